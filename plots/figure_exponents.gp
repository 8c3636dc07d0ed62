# figure_exponents.gp - histogram by exponent. XLOW XHIGH ROWS XTICS YTICS CBTICS CBTOP. Data: distance row count.
set xrange [XLOW - 0.6 : XHIGH + 0.6]
set yrange [-0.6 : ROWS - 0.4]
eval "set xtics ".XTICS
eval "set ytics ".YTICS
set xlabel "distance [ulp]"
set ylabel "exponent of the reference"
set grid noxtics noytics
set logscale cb
set cbrange [1 : CBTOP]
set palette maxcolors 24 defined (0 "#a8dbd9", 0.35 "#3aa6b9", 0.7 "#2b6cb0", 1 "#4b1d6b")
eval "set cbtics ".CBTICS
set cbtics scale 0.4
if (NARROW) { set colorbox horizontal user origin 0.2, 0.105 size 0.7, 0.02; set bmargin 8.5; set cbtics offset 0, 0.5 font KEYFONT } else { set cblabel "elements"; set rmargin 11 }
set style fill solid 1.0 noborder
plot DATA using 1:2:(0.47):(0.45):3 with boxxyerror lc palette notitle
