$p0 << END
1 100
8 100
END
$p1 << END
1 100
8 75
END
$i1 << END
8 75 70 80
END
$p2 << END
2 90
END
$i2 << END
2 90 87.5 92.5
END
$p3 << END
4 50
END
reset
set encoding utf8
set title 'VGG-16' noenhanced
set xlabel 'GPUs' offset 0,0.3 noenhanced
set ylabel 'Scaling efficiency' noenhanced
set key below vertical Left reverse samplen 3 maxrows 2 noenhanced
set border 3 lc rgb '#888888'
set tics nomirror textcolor rgb '#333333'
set grid lc rgb '#dddddd' lt 1 lw 0.5
set bars 0.7
set logscale x 2
set xrange [0.9090909090909091:8.8]
set xtics (1, 2, 4, 8)
set yrange [0:*]
set format y '%g %%'
set terminal svg size 1000,640 dynamic noenhanced font 'sans-serif,14' background '#ffffff'
set output 'efficiency.svg'
plot $p0 using 1:2 with lines lw 1 dt (12,6) lc rgb '#8a8a8a' title 'ideal', \
     $i1 using 1:2:3:4 with yerrorbars pt 0 lw 1.5 lc rgb '#0072b2' notitle, \
     $p1 using 1:2 with linespoints pt 7 ps 0.4 lw 2 dt solid lc rgb '#0072b2' title 'ring (simulated)', \
     $i2 using 1:2:3:4 with yerrorbars pt 0 lw 1.5 lc rgb '#0072b2' notitle, \
     $p2 using 1:2 with points pt 7 ps 1.2 lw 2 dt solid lc rgb '#0072b2' title 'ring (measured)', \
     $p3 using 1:2 with linespoints pt 9 ps 1.2 lw 2 dt solid lc rgb '#d55e00' title 'ps (emulated)'
unset output
reset
set encoding utf8
set title 'VGG-16' noenhanced
set xlabel 'GPUs' offset 0,0.3 noenhanced
set ylabel 'Scaling efficiency' noenhanced
set key below vertical Left reverse samplen 3 maxrows 2 noenhanced
set border 3 lc rgb '#888888'
set tics nomirror textcolor rgb '#333333'
set grid lc rgb '#dddddd' lt 1 lw 0.5
set bars 0.7
set logscale x 2
set xrange [0.9090909090909091:8.8]
set xtics (1, 2, 4, 8)
set yrange [0:*]
set format y '%g %%'
set terminal pngcairo size 1500,960 noenhanced font 'sans,16' linewidth 1.5 background '#ffffff'
set output 'efficiency.png'
plot $p0 using 1:2 with lines lw 1 dt (12,6) lc rgb '#8a8a8a' title 'ideal', \
     $i1 using 1:2:3:4 with yerrorbars pt 0 lw 1.5 lc rgb '#0072b2' notitle, \
     $p1 using 1:2 with linespoints pt 7 ps 0.4 lw 2 dt solid lc rgb '#0072b2' title 'ring (simulated)', \
     $i2 using 1:2:3:4 with yerrorbars pt 0 lw 1.5 lc rgb '#0072b2' notitle, \
     $p2 using 1:2 with points pt 7 ps 1.2 lw 2 dt solid lc rgb '#0072b2' title 'ring (measured)', \
     $p3 using 1:2 with linespoints pt 9 ps 1.2 lw 2 dt solid lc rgb '#d55e00' title 'ps (emulated)'
unset output
$p0 << END
1 1
8 1
END
$p1 << END
1 1
8 0.75
END
$i1 << END
8 0.75 0.7 0.8
END
$p2 << END
2 0.9
END
$i2 << END
2 0.9 0.875 0.925
END
$p3 << END
4 0.5
END
reset
set encoding utf8
set title 'Step time' noenhanced
set xlabel 'GPUs' offset 0,0.3 noenhanced
set ylabel 'ms' noenhanced
set key below vertical Left reverse samplen 3 maxrows 2 noenhanced
set border 3 lc rgb '#888888'
set tics nomirror textcolor rgb '#333333'
set grid lc rgb '#dddddd' lt 1 lw 0.5
set bars 0.7
set rmargin 26
set xrange [0.86:8.14]
set yrange [0:*]
set terminal svg size 1000,640 dynamic noenhanced font 'sans-serif,14' background '#ffffff'
set output 'step-time.svg'
set arrow from graph 0, first 0.8 to graph 1, first 0.8 nohead dt (4,4) lc rgb '#555555'
set label 'at most' at graph 0, first 0.8 left offset 0.5,0.5 font ',11' textcolor rgb '#555555' noenhanced
set arrow from first 6, graph 0 to first 6, graph 1 nohead dt (4,4) lc rgb '#555555'
set label 'by then' at first 6, graph 1 left offset 0.5,-0.6 font ',11' textcolor rgb '#555555' noenhanced
set label 'ideal' at first 8, first 1 left offset 0.8,0 font ',11' noenhanced
set label 'ring (simulated)' at first 8, first 0.75 left offset 0.8,0 font ',11' noenhanced
set label 'ps (emulated)' at first 4, first 0.5 left offset 0.8,0 font ',11' noenhanced
plot $p0 using 1:2 with lines lw 1 dt (12,6) lc rgb '#8a8a8a' notitle, \
     $i1 using 1:2:3:4 with yerrorbars pt 0 lw 1.5 lc rgb '#0072b2' notitle, \
     $p1 using 1:2 with linespoints pt 7 ps 0.4 lw 2 dt solid lc rgb '#0072b2' notitle, \
     $i2 using 1:2:3:4 with yerrorbars pt 0 lw 1.5 lc rgb '#0072b2' notitle, \
     $p2 using 1:2 with points pt 7 ps 1.2 lw 2 dt solid lc rgb '#0072b2' title 'ring (measured)', \
     $p3 using 1:2 with linespoints pt 9 ps 1.2 lw 2 dt solid lc rgb '#d55e00' notitle
unset output
reset
set encoding utf8
set title 'Step time' noenhanced
set xlabel 'GPUs' offset 0,0.3 noenhanced
set ylabel 'ms' noenhanced
set key below vertical Left reverse samplen 3 maxrows 2 noenhanced
set border 3 lc rgb '#888888'
set tics nomirror textcolor rgb '#333333'
set grid lc rgb '#dddddd' lt 1 lw 0.5
set bars 0.7
set rmargin 26
set xrange [0.86:8.14]
set yrange [0:*]
set terminal pngcairo size 1500,960 noenhanced font 'sans,16' linewidth 1.5 background '#ffffff'
set output 'step-time.png'
set arrow from graph 0, first 0.8 to graph 1, first 0.8 nohead dt (4,4) lc rgb '#555555'
set label 'at most' at graph 0, first 0.8 left offset 0.5,0.5 font ',11' textcolor rgb '#555555' noenhanced
set arrow from first 6, graph 0 to first 6, graph 1 nohead dt (4,4) lc rgb '#555555'
set label 'by then' at first 6, graph 1 left offset 0.5,-0.6 font ',11' textcolor rgb '#555555' noenhanced
set label 'ideal' at first 8, first 1 left offset 0.8,0 font ',11' noenhanced
set label 'ring (simulated)' at first 8, first 0.75 left offset 0.8,0 font ',11' noenhanced
set label 'ps (emulated)' at first 4, first 0.5 left offset 0.8,0 font ',11' noenhanced
plot $p0 using 1:2 with lines lw 1 dt (12,6) lc rgb '#8a8a8a' notitle, \
     $i1 using 1:2:3:4 with yerrorbars pt 0 lw 1.5 lc rgb '#0072b2' notitle, \
     $p1 using 1:2 with linespoints pt 7 ps 0.4 lw 2 dt solid lc rgb '#0072b2' notitle, \
     $i2 using 1:2:3:4 with yerrorbars pt 0 lw 1.5 lc rgb '#0072b2' notitle, \
     $p2 using 1:2 with points pt 7 ps 1.2 lw 2 dt solid lc rgb '#0072b2' title 'ring (measured)', \
     $p3 using 1:2 with linespoints pt 9 ps 1.2 lw 2 dt solid lc rgb '#d55e00' notitle
unset output
$p0 << END
0 1
86400 2
END
$p1 << END
0 3
END
reset
set encoding utf8
set title 'On two networks' noenhanced
set xlabel 'date' offset 0,0.3 noenhanced
set ylabel 'ms' noenhanced
set key below vertical Left reverse samplen 3 maxrows 1 noenhanced
set border 3 lc rgb '#888888'
set tics nomirror textcolor rgb '#333333'
set grid lc rgb '#dddddd' lt 1 lw 0.5
set bars 0.7
set xdata time
set timefmt '%s'
set format x '%Y-%m-%d'
set xtics rotate by -30
set xrange [-1728:88128]
set yrange [*:*]
set terminal svg size 1000,640 dynamic noenhanced font 'sans-serif,14' background '#ffffff'
set output 'panels.svg'
set multiplot layout 2,2 title 'On two networks' noenhanced
set key off
unset label
unset arrow
set title 'slow' noenhanced
set label '3f2a91c' at first 86400, first 2 right offset -0.5,0.5 font ',11' noenhanced
plot $p0 using 1:2 with linespoints pt 7 ps 0.4 lw 2 dt solid lc rgb '#0072b2' notitle
unset label
unset arrow
set title 'fast' noenhanced
plot $p1 using 1:2 with linespoints pt 7 ps 0.4 lw 2 dt solid lc rgb '#0072b2' notitle
set key on inside center center vertical
set xdata
unset logscale
set xrange [0:1]
set yrange [0:1]
unset title
unset border
unset tics
unset label
unset arrow
set xlabel ' '
set ylabel ' '
plot 2 with linespoints pt 7 ps 0.4 lw 2 dt solid lc rgb '#0072b2' title 'ring (simulated)'
unset multiplot
unset output
reset
set encoding utf8
set title 'On two networks' noenhanced
set xlabel 'date' offset 0,0.3 noenhanced
set ylabel 'ms' noenhanced
set key below vertical Left reverse samplen 3 maxrows 1 noenhanced
set border 3 lc rgb '#888888'
set tics nomirror textcolor rgb '#333333'
set grid lc rgb '#dddddd' lt 1 lw 0.5
set bars 0.7
set xdata time
set timefmt '%s'
set format x '%Y-%m-%d'
set xtics rotate by -30
set xrange [-1728:88128]
set yrange [*:*]
set terminal pngcairo size 1500,960 noenhanced font 'sans,16' linewidth 1.5 background '#ffffff'
set output 'panels.png'
set multiplot layout 2,2 title 'On two networks' noenhanced
set key off
unset label
unset arrow
set title 'slow' noenhanced
set label '3f2a91c' at first 86400, first 2 right offset -0.5,0.5 font ',11' noenhanced
plot $p0 using 1:2 with linespoints pt 7 ps 0.4 lw 2 dt solid lc rgb '#0072b2' notitle
unset label
unset arrow
set title 'fast' noenhanced
plot $p1 using 1:2 with linespoints pt 7 ps 0.4 lw 2 dt solid lc rgb '#0072b2' notitle
set key on inside center center vertical
set xdata
unset logscale
set xrange [0:1]
set yrange [0:1]
unset title
unset border
unset tics
unset label
unset arrow
set xlabel ' '
set ylabel ' '
plot 2 with linespoints pt 7 ps 0.4 lw 2 dt solid lc rgb '#0072b2' title 'ring (simulated)'
unset multiplot
unset output
reset
set encoding utf8
set title 'Nothing yet' noenhanced
set xlabel 'x' offset 0,0.3 noenhanced
set ylabel 'y' noenhanced
set key below vertical Left reverse samplen 3 maxrows 1 noenhanced
set border 3 lc rgb '#888888'
set tics nomirror textcolor rgb '#333333'
set grid lc rgb '#dddddd' lt 1 lw 0.5
set bars 0.7
set xrange [0:1]
set yrange [0:1]
set terminal svg size 1000,640 dynamic noenhanced font 'sans-serif,14' background '#ffffff'
set output 'empty.svg'
set label 'no points' at graph 0.5,0.5 center
plot NaN notitle
unset output
reset
set encoding utf8
set title 'Nothing yet' noenhanced
set xlabel 'x' offset 0,0.3 noenhanced
set ylabel 'y' noenhanced
set key below vertical Left reverse samplen 3 maxrows 1 noenhanced
set border 3 lc rgb '#888888'
set tics nomirror textcolor rgb '#333333'
set grid lc rgb '#dddddd' lt 1 lw 0.5
set bars 0.7
set xrange [0:1]
set yrange [0:1]
set terminal pngcairo size 1500,960 noenhanced font 'sans,16' linewidth 1.5 background '#ffffff'
set output 'empty.png'
set label 'no points' at graph 0.5,0.5 center
plot NaN notitle
unset output
