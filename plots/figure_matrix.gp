# figure_matrix.gp - checks as cells. LONGEST, HASk (0 equal, 1 differ, 2 measured, 3 neither); LINESn YTICSn with n = NARROW.
# Data: x line half-width "label" "result", four blocks (by kind) for the wide layout, then four for the narrow one.
LINES = NARROW ? LINES1 : LINES0
BASE = NARROW ? 4 : 0
set xrange [0 : 1]
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
set style fill solid 1.0 noborder
array COLOUR[4] = ["#00785a", "#b84a00", "#005a8c", "#5d6771"]
array KIND[4] = ["equal", "differ", "measured only", "no result"]
array HAS[4] = [HAS0, HAS1, HAS2, HAS3]
plot for [k = 1 : 4] DATA index (BASE + k - 1) using (HAS[k] ? column(1) : 1/0):2:3:(0.45) with boxxyerror lc rgb COLOUR[k] notitle, \
     for [k = 1 : 4] NaN with boxes lc rgb COLOUR[k] title (HAS[k] ? KIND[k] : ""), \
     for [k = 1 : 4] DATA index (BASE + k - 1) using 1:($2 - 0.21):4 with labels tc rgb "#e8ecef" font KEYFONT noenhanced notitle, \
     for [k = 1 : 4] DATA index (BASE + k - 1) using 1:(strlen(strcol(4)) ? $2 + 0.2 : $2):5 with labels tc rgb "#ffffff" font KEYFONT noenhanced notitle
