package dev.culvert.benchmarks.result;

import static dev.culvert.benchmarks.result.Samples.cell;
import static dev.culvert.benchmarks.result.Samples.comparison;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class HtmlReportTest {
    private static final String EVIL = "</style><script>alert(1)</script>\"'&\u0000\ud800";

    @Test
    void thePageIsWellFormedAndHasItsPlots() throws Exception {
        Document page = parse(HtmlReport.of(sample()));

        assertThat(all(page, "svg")).filteredOn(svg -> svg.getAttribute("class").equals("plot")).hasSize(3);
        assertThat(all(page, "h2")).extracting(Element::getTextContent)
                .containsExactly("Summary", "get, 32 callers");
        assertThat(all(page, "main").getFirst().getTextContent()).contains("the machine was busy", "cores",
                "1.40");
    }

    @Test
    void thePageLoadsNothing() {
        assertThat(HtmlReport.of(sample())).doesNotContain("http://", "https://", "<script", " src=", "url(",
                "@import", "<link");
    }

    @Test
    void everyPlotHasATitleAndADescription() throws Exception {
        Document page = parse(HtmlReport.of(sample()));

        List<String> ids = all(page, "*").stream()
                .map(element -> element.getAttribute("id"))
                .filter(id -> !id.isEmpty())
                .toList();
        assertThat(ids).doesNotHaveDuplicates();
        for (Element svg : all(page, "svg")) {
            if (svg.getAttribute("class").equals("plot")) {
                assertThat(ids).contains(svg.getAttribute("aria-labelledby").split(" "));
                assertThat(svg.getElementsByTagName("desc").item(0).getTextContent())
                        .contains("culvert: median");
            }
        }
    }

    @Test
    void aTargetHasACurveAndAPairHasADot() throws Exception {
        Document page = parse(HtmlReport.of(sample()));

        Element latency = plot(page, "load1-latency");
        assertThat(children(latency, "path"))
                .filteredOn(path -> path.getAttribute("class").startsWith("curve"))
                .hasSize(2);
        assertThat(latency.getTextContent()).contains("50 %0 %90 %99 %99.9 %99.99 %");
        List<String> dots = children(plot(page, "load1-requests"), "path").stream()
                .map(Element::getTextContent)
                .toList();
        assertThat(dots).containsExactly("culvert, start 1, round 1: 1.50",
                "culvert, start 1, round 2: 1.30");
    }

    @Test
    void textOfAResultFileIsEscaped() throws Exception {
        Cell evil = cell(EVIL, 1, 1, 1000, 40);
        BenchResult result = new BenchResult(BenchResult.VERSION, EVIL, "nginx2", Map.of(EVIL, EVIL),
                List.of(EVIL), List.of(cell("nginx2", 1, 1, 1000, 40), evil,
                        new Cell(EVIL, EVIL, 1, 0, 1, 1, evil.load(), evil.usage())));

        String html = HtmlReport.of(Comparison.of(List.of(new ResultFile(EVIL, result)), null));

        assertThat(html).doesNotContain("<script");
        assertThat(all(parse(html), "h2").getLast().getTextContent())
                .isEqualTo("</style><script>alert(1)</script>\"'&\ufffd\ufffd, 1 caller");
    }

    @Test
    void theStyleHasNothingThatIsEscaped() {
        String html = HtmlReport.of(sample());

        String style = html.substring(html.indexOf("<style>") + 7, html.indexOf("</style>"));
        assertThat(style).contains("prefers-color-scheme: dark").doesNotContain("&", "<", "\"", "'");
    }

    @Test
    void anElementThatStaysOpenIsAMistake() {
        assertThatThrownBy(() -> new Markup().open("p").toString()).isInstanceOf(IllegalStateException.class);
    }

    private static Comparison sample() {
        return comparison(cell("nginx2", 1, 1, 1000, 40), cell("culvert", 1, 1, 1500, 30),
                cell("nginx2", 1, 2, 1000, 40), cell("culvert", 1, 2, 1300, 36));
    }

    private static Document parse(String html) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(html)));
    }

    private static Element plot(Document page, String id) {
        return all(page, "svg").stream()
                .filter(svg -> svg.getAttribute("aria-labelledby").startsWith(id + "-title"))
                .findFirst()
                .orElseThrow();
    }

    private static List<Element> all(Document page, String name) {
        return elements(page.getElementsByTagName(name));
    }

    private static List<Element> children(Element parent, String name) {
        return elements(parent.getElementsByTagName(name));
    }

    private static List<Element> elements(NodeList nodes) {
        List<Element> elements = new ArrayList<>();
        for (int i = 0; i < nodes.getLength(); i++) {
            elements.add((Element) nodes.item(i));
        }
        return elements;
    }
}
