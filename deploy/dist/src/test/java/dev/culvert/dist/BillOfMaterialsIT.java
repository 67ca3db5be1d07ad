package dev.culvert.dist;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/** The lists of {@code docs/sbom} hold what the built distribution holds, and docs/security.md judges the same faults. */
class BillOfMaterialsIT {
    private static final Path TREE = Path.of("../..").toAbsolutePath().normalize();
    private static final JsonMapper JSON = new JsonMapper();
    private static final Pattern PURL = Pattern.compile("pkg:maven/([^/]+)/([^@]+)@([^?]+)(?:\\?(.*))?");
    private static final Pattern CLASSIFIER = Pattern.compile("classifier=([^&]+)");

    @Test
    void theBillIsTheDistribution() throws IOException {
        Set<String> built;
        try (var jars = Files.walk(Installation.staged().resolve("lib"))) {
            built = jars.map(jar -> jar.getFileName().toString())
                    .filter(name -> name.endsWith(".jar") && !name.startsWith("culvert-"))
                    .collect(Collectors.toCollection(TreeSet::new));
        }

        assertThat(bill().stream()
                .map(BillOfMaterialsIT::jar)
                .filter(name -> !name.startsWith("culvert-")))
                .as("mvn -P sbom package -DskipTests -DskipITs")
                .containsExactlyInAnyOrderElementsOf(built);
    }

    /** What scanners and people compare: no hash is that of another file, and what the build has changed says so. */
    @Test
    void theShippedBillHasTheHashesOfTheShippedJars() throws IOException {
        Path home = Installation.staged();
        Map<String, Path> jars;
        try (var files = Files.walk(home.resolve("lib"))) {
            jars = files.filter(file -> file.toString().endsWith(".jar"))
                    .collect(Collectors.toMap(jar -> jar.getFileName().toString(), jar -> jar));
        }
        Set<String> changed = new TreeSet<>();
        Set<String> checked = new TreeSet<>();
        for (JsonNode part : JSON.readTree(home.resolve("sbom/culvert.cdx.json").toFile())
                .path("components")) {
            Path jar = jars.get(jar(part.path("purl").textValue()));
            if (jar == null) {
                continue; // a part that is not shipped
            }
            checked.add(jar.getFileName().toString());
            assertThat(part.path("hashes")
                    .valueStream()
                    .filter(hash -> hash.path("alg").textValue().equals("SHA-256"))
                    .map(hash -> hash.path("content").textValue())).as(jar.toString())
                    .containsExactly(Sums.of(jar));
            if (part.has("pedigree")) {
                changed.add(part.path("name").textValue());
            }
        }
        assertThat(jars.keySet().stream().filter(name -> !name.startsWith("culvert-")))
                .isNotEmpty()
                .isSubsetOf(checked);
        assertThat(changed).containsExactly("bcpkix-jdk18on", "bcprov-jdk18on", "bcutil-jdk18on",
                "org.eclipse.jgit", "picocli");
        assertThat(Files.readString(home.resolve("NOTICE")))
                .contains(changed.stream().map(name -> "\n" + name + ": ").toList());
    }

    @Test
    void onlyNettysNativePartsAreOfAnotherVersion() throws IOException {
        assertThat(bill().stream()
                .filter(purl -> purl.startsWith("pkg:maven/io.netty/") && !purl.contains("tcnative"))
                .filter(purl -> !purl.contains("@4.2.20.Final"))
                .map(purl -> purl.substring(purl.lastIndexOf('/') + 1, purl.indexOf('@')))
                .distinct())
                .containsExactlyInAnyOrder("netty-transport-classes-epoll",
                        "netty-transport-native-unix-common", "netty-transport-native-epoll");
    }

    @Test
    void faultsAreJudgedOfWhatIsShippedAndToldToReaders() throws IOException {
        List<String> shipped = bill();
        String told = Files.readString(TREE.resolve("docs/security.md"));
        JsonNode judged = JSON.readTree(TREE.resolve("docs/sbom/vex.cdx.json").toFile())
                .path("vulnerabilities");

        assertThat(judged).isNotEmpty().allSatisfy(fault -> {
            assertThat(told).contains(fault.path("id").textValue());
            assertThat(fault.path("analysis").path("state").textValue()).isNotBlank();
            assertThat(fault.path("affects")).isNotEmpty()
                    .allSatisfy(part -> assertThat(shipped).contains(part.path("ref").textValue()));
        });
        assertThat(Pattern.compile("\\| (CULVERT-VEX-\\d+|CVE-[\\d-]+)").matcher(told).results())
                .hasSize(judged.size());
    }

    private static List<String> bill() throws IOException {
        JsonNode all = JSON.readTree(TREE.resolve("docs/sbom/culvert.cdx.json").toFile()).path("components");
        return StreamSupport.stream(all.spliterator(), false)
                .map(component -> component.path("purl").textValue())
                .toList();
    }

    /** The name of the jar that a package URL stands for. */
    private static String jar(String purl) {
        Matcher parts = PURL.matcher(purl);
        assertThat(parts.matches()).as(purl).isTrue();
        Matcher classifier = CLASSIFIER.matcher(parts.group(4) == null ? "" : parts.group(4));
        return parts.group(2) + "-" + parts.group(3) + (classifier.find() ? "-" + classifier.group(1) : "")
                + ".jar";
    }
}
