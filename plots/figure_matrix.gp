# figure_matrix.gp - checks as cells. LONGEST, HASk (0 equal, 1 differ, 2 neither); LINESn COLUMNSn YTICSn with n = NARROW.
# Data: column line "label" "result", three blocks (by kind) for the wide layout, then three for the narrow one.
LINES = NARROW ? LINES1 : LINES0
COLUMNS = NARROW ? COLUMNS1 : COLUMNS0
BASE = NARROW ? 3 : 0
set xrange [-0.5 : COLUMNS - 0.5]
set yrange [LINES - 0.5 : -0.5]
unset border
unset xtics
unset grid
eval "set ytics ".(NARROW ? YTICS1 : YTICS0)
set ytics scale 0 font KEYFONT
set lmargin (LONGEST * (NARROW ? 0.84 : 0.86) + 1.5)
set rmargin 1.5
set tmargin (NARROW ? 4.2 : 3.4)
set bmargin (NARROW ? 4 : 2.6)
set key at graph 1, graph 1 right bottom horizontal samplen 1 font KEYFONT
set style fill solid 1.0 noborder
array COLOUR[3] = ["#00785a", "#b84a00", "#5d6771"]
array KIND[3] = ["equal", "differ", "neither"]
array HAS[3] = [HAS0, HAS1, HAS2]
plot for [k = 1 : 3] DATA index (BASE + k - 1) using (HAS[k] ? column(1) : 1/0):2:(0.48):(0.45) with boxxyerror lc rgb COLOUR[k] notitle, \
     for [k = 1 : 3] NaN with boxes lc rgb COLOUR[k] title (HAS[k] ? KIND[k] : ""), \
     for [k = 1 : 3] DATA index (BASE + k - 1) using 1:($2 - 0.21):3 with labels tc rgb "#e8ecef" font KEYFONT noenhanced notitle, \
     for [k = 1 : 3] DATA index (BASE + k - 1) using 1:(strlen(strcol(3)) ? $2 + 0.2 : $2):4 with labels tc rgb "#ffffff" font KEYFONT noenhanced notitle
