# figure_matrix.gp - checks as cells. ROWS COLUMNS LONGEST XTICS YTICS HASk ATk (1 equal, 2 differ, 3 other).
# Data: column row "text", one block per kind.
set xrange [-0.5 : COLUMNS - 0.5]
set yrange [ROWS - 0.5 : -0.5]
set noborder
unset border
eval "set ytics ".YTICS
eval "set x2tics ".XTICS
unset xtics
set x2tics scale 0 font KEYFONT
set ytics scale 0 font KEYFONT
set x2range [-0.5 : COLUMNS - 0.5]
unset grid
set lmargin (LONGEST * (NARROW ? 0.82 : 0.95) + 1)
set rmargin 1.5
set tmargin (COLUMNS == 1 ? 3 : 4.2)
set bmargin (NARROW ? 5 : 4.6)
set key outside bottom center horizontal samplen 1 font KEYFONT
set style fill solid 1.0 noborder
plot for [i = 1 : HAS1] DATA index AT1 using 1:2:(0.48):(0.44) with boxxyerror lc rgb "#00785a" title "equal", \
     for [i = 1 : HAS2] DATA index AT2 using 1:2:(0.48):(0.44) with boxxyerror lc rgb "#b84a00" title "differ", \
     for [i = 1 : HAS3] DATA index AT3 using 1:2:(0.48):(0.44) with boxxyerror lc rgb "#66707a" title "neither", \
     DATA using 1:2:3 with labels tc rgb "#ffffff" font KEYFONT noenhanced notitle
