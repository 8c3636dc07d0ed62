# figure_exponents.gp - histogram by exponent. XLOW XHIGH ROWS XTICS YTICS CBTICS CBTOP. Data: distance row count.
set xrange [XLOW - 0.6 : XHIGH + 0.6]
set yrange [-0.6 : ROWS - 0.4]
eval "set xtics ".XTICS
eval "set ytics ".YTICS
set xlabel "distance [ulp]"
set ylabel "binary exponent of the reference"
set grid noxtics noytics
set logscale cb
set cbrange [1 : CBTOP]
set palette maxcolors 24 defined (0 "#a8dbd9", 0.35 "#3aa6b9", 0.7 "#2b6cb0", 1 "#5b2a86")
eval "set cbtics ".CBTICS
set cbtics scale 0.4 font KEYFONT
set tmargin (NARROW ? 4.4 : 2.8)
if (NARROW) { set colorbox horizontal user origin 0.2, 0.115 size 0.72, 0.018; set bmargin 9; set cbtics offset 0, 0.6 } else { set colorbox user origin 0.9, 0.25 size 0.02, 0.5; set label 98 "elements" at screen 0.9, screen 0.78 left font KEYFONT; set rmargin at screen 0.87 }
set style fill solid 1.0 noborder
plot DATA using 1:2:(0.47):(0.45):3 with boxxyerror lc palette notitle
