# figure_ulp.gp - signed ulp histogram. XLOW XHIGH YTOP BARS XTICS YTICS HASc; NA NAX: a bar for what cannot be compared.
# Data: distance count class "share".
SHOWN = BARS <= (NARROW ? 9 : 17)
set logscale y
set xrange [XLOW - 0.9 : (NA ? NAX : XHIGH) + 0.9]
set yrange [0.6 : YTOP]
eval "set xtics ".XTICS
eval "set ytics ".YTICS
if (NA) set xtics add ("n/a" NAX)
set xlabel "distance [ulp]"
set ylabel "elements"
set grid ytics noxtics
set style fill solid 1.0 noborder
set boxwidth 0.82
array COLOUR[6] = ["#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7"]
array NAME[6] = ["≥ 10 % of all", "≥ 1 %", "≥ 0.1 %", "≥ 0.01 %", "less", "not comparable"]
array HAS[6] = [HAS1, HAS2, HAS3, HAS4, HAS5, NA]
plot for [c = 1 : 6] DATA using 1:(column(3) == c ? column(2) : 1/0) with boxes lc rgb COLOUR[c] title (HAS[c] ? NAME[c] : ""), \
     DATA using 1:(SHOWN ? column(2) : 1/0):4 with labels offset 0, 0.6 font KEYFONT noenhanced notitle
