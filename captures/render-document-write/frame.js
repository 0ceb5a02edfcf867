document.write('<TABLE WIDTH="760" ALIGN="center"><TR><TD WIDTH="140" VALIGN="top">');
var sections = ['Front page', 'Shipping', 'Chapel', 'Small ads', 'Weather'];
for (var i = 0; i < sections.length; i++) document.write('<A HREF="' + i + '.htm">' + sections[i] + '</A><BR>');
document.write('</TD><TD VALIGN="top"><H1>The press above the bakery</H1>');
document.write('<SCRIPT SRC="text.js"><' + '/SCRIPT>');
document.write('</TD></TR><TR><TD COLSPAN="2" ALIGN="center"><FONT SIZE="1">Webmaster: the Gazette, Saltmouth</FONT></TD></TR></TABLE>');
