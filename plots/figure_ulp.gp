# figure_ulp.gp - signed ulp histogram. XLOW XHIGH YTOP BARS XTICS YTICS; NA NAX: a bar for what cannot be compared.
# Data: distance count class "share".
set logscale y
set xrange [XLOW - 0.9 : (NA ? NAX : XHIGH) + 0.9]
set yrange [0.6 : YTOP * (BARS <= (NARROW ? 9 : 17) ? 1.8 : 1)]
eval "set xtics ".XTICS
eval "set ytics ".YTICS
if (NA) set xtics add ("n/a" NAX)
set xlabel "distance [ulp]"
set ylabel "elements"
set grid ytics noxtics
set key (NARROW ? "outside" : "inside") 
if (NARROW) { set key outside bottom center horizontal maxrows 2 width -2 samplen 1 font KEYFONT } else { set key inside top right vertical samplen 1.2 font KEYFONT }
set style fill solid 1.0 noborder
set boxwidth 0.82
array COLOUR[6] = ["#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00", "#CC79A7"]
array NAME[6] = ["10 % or more", "1 to 10 %", "0.1 to 1 %", "0.01 to 0.1 %", "less", "not comparable"]
SHOWN = BARS <= (NARROW ? 9 : 17)
plot for [c = 1 : 5 + NA] DATA using 1:(column(3) == c ? column(2) : 1/0) with boxes lc rgb COLOUR[c] title NAME[c], \
     DATA using 1:(SHOWN ? column(2) : 1/0):4 with labels offset 0, 0.6 font KEYFONT noenhanced notitle
