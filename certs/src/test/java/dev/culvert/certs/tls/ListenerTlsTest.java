package dev.culvert.certs.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateFiles;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.PemFiles;
import dev.culvert.certs.TestClock;
import dev.culvert.certs.TlsMaterial;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Which certificate a listener shows, and when it takes a new one. */
class ListenerTlsTest {
    private static final Duration DAY = Duration.ofDays(1);

    @TempDir
    private Path folder;
    private final TestClock clock = new TestClock();
    private final CertificateAuthority ca = CertificateAuthority.create("test", clock);
    private final IdentityHashMap<SslContext, X509Certificate> leaves = new IdentityHashMap<>();
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void listen() {
        log.start();
        ((Logger) LoggerFactory.getLogger(WatchedPair.class)).addAppender(log);
    }

    @AfterEach
    void stopListening() {
        ((Logger) LoggerFactory.getLogger(WatchedPair.class)).detachAppender(log);
    }

    private CertificateFiles files(String name) {
        return new CertificateFiles(folder.resolve(name + ".crt"), folder.resolve(name + ".key"));
    }

    private TlsMaterial write(CertificateFiles files, Duration life, String... names) {
        TlsMaterial material = ca.issueServer(List.of(names), List.of(), life);
        material.writeTo(files.certificate(), files.key());
        return material;
    }

    private CertificateFiles pair(String name, String... names) {
        CertificateFiles files = files(name);
        write(files, DAY, names);
        return files;
    }

    private ListenerTls load(CertificateFiles... files) {
        return ListenerTls.load("edge", List.of(files), material -> {
            SslContext made = TlsContexts.edge(material, List.of("http/1.1"));
            leaves.put(made, material.leaf());
            return made;
        }, clock);
    }

    private X509Certificate shown(ListenerTls tls, @Nullable String serverName) {
        X509Certificate leaf = leaves.get(tls.context(serverName));
        if (leaf == null) {
            throw new AssertionError("a context that was not made here");
        }
        return leaf;
    }

    private String subject(ListenerTls tls, @Nullable String serverName) {
        return shown(tls, serverName).getSubjectX500Principal().getName();
    }

    private List<String> warnings() {
        var texts = new ArrayList<String>();
        for (ILoggingEvent event : log.list) {
            if (event.getLevel() == Level.WARN) {
                texts.add(event.getFormattedMessage() + " " + event.getKeyValuePairs());
            }
        }
        return texts;
    }

    @Test
    void anExactNameWinsOverAWildcardAndTheFirstPairServesTheRest() {
        ListenerTls tls = load(pair("edge", "t.example", "*.t.example"), pair("wild", "*.acme.example"),
                pair("git", "git.acme.example"));

        assertThat(subject(tls, "git.acme.example")).isEqualTo("CN=git.acme.example");
        assertThat(subject(tls, "GIT.acme.example")).isEqualTo("CN=git.acme.example");
        assertThat(subject(tls, "www.acme.example")).isEqualTo("CN=*.acme.example");
        for (String name : new String[]{null, "", "acme.example", "a.b.acme.example", "other.example",
                "a-b.t.example"}) {
            assertThat(subject(tls, name)).as("%s", name).isEqualTo("CN=t.example");
        }
        assertThat(tls.isFor("git.acme.example")).isTrue();
        assertThat(tls.isFor("www.acme.example")).isFalse();
    }

    @Test
    void itCoversWhatItsCertificatesAreFor() {
        CertificateFiles own = files("own");
        ca.issueServer(List.of("t.example", "*.acme.example"), List.of(InetAddress.ofLiteral("192.0.2.1"),
                InetAddress.ofLiteral("2001:db8::1")), DAY).writeTo(own.certificate(), own.key());
        ListenerTls tls = load(own);

        assertThat(List.of("t.example", "www.acme.example", "192.0.2.1", "[2001:db8::1]", "[2001:db8:0::1]"))
                .allMatch(tls::covers);
        assertThat(
                List.of("", "x.t.example", "acme.example", "a.b.acme.example", "192.0.2.2", "[2001:db8::2]",
                        "[::1", "192.0.2.256"))
                .noneMatch(tls::covers);
    }

    @Test
    void aNewPairIsTakenWhenItIsWhole() {
        CertificateFiles files = pair("edge", "t.example");
        ListenerTls tls = load(files);
        X509Certificate before = shown(tls, null);
        TlsMaterial next = ca.issueServer(List.of("t.example"), List.of(), DAY.multipliedBy(2));

        PemFiles.writeCertificates(files.certificate(), next.chain());
        tls.look();
        assertThat(shown(tls, null)).isEqualTo(before);
        PemFiles.writeKey(files.key(), next.key());
        tls.look();

        assertThat(shown(tls, null)).isEqualTo(next.leaf());
        assertThat(tls.notAfter()).isEqualTo(next.leaf().getNotAfter().toInstant());
        assertThat(warnings()).isEmpty();
    }

    /** As the kubelet does: the files are links into ..data, which is a link that is swapped. */
    @Test
    void aSwappedFolderOfKubernetesIsSeen() throws IOException {
        Path mount = Files.createDirectory(folder.resolve("mount"));
        TlsMaterial first = version(mount, "..1");
        Files.createSymbolicLink(mount.resolve("..data"), Path.of("..1"));
        for (String name : List.of("tls.crt", "tls.key")) {
            Files.createSymbolicLink(mount.resolve(name), Path.of("..data", name));
        }
        ListenerTls tls = load(new CertificateFiles(mount.resolve("tls.crt"), mount.resolve("tls.key")));
        assertThat(shown(tls, null)).isEqualTo(first.leaf());

        TlsMaterial second = version(mount, "..2");
        Files.createSymbolicLink(mount.resolve("..data_tmp"), Path.of("..2"));
        Files.move(mount.resolve("..data_tmp"), mount.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
        tls.look();

        assertThat(shown(tls, null)).isEqualTo(second.leaf());
    }

    private TlsMaterial version(Path mount, String name) throws IOException {
        Path version = Files.createDirectory(mount.resolve(name));
        return write(new CertificateFiles(version.resolve("tls.crt"), version.resolve("tls.key")), DAY,
                "t.example");
    }

    @Test
    void aPairThatDoesNotFitIsComplainedOfOnceAndTheNextGoodOneTaken() {
        CertificateFiles files = pair("edge", "t.example");
        ListenerTls tls = load(files);
        X509Certificate before = shown(tls, null);

        PemFiles.writeCertificates(files.certificate(),
                ca.issueServer(List.of("t.example"), List.of(), DAY).chain());
        for (int i = 0; i < 4; i++) {
            tls.look();
        }

        assertThat(shown(tls, null)).isEqualTo(before);
        assertThat(warnings()).singleElement()
                .asString()
                .contains("can't be used; the previous one stays in use", "edge.key: not the key of",
                        "expected:");

        TlsMaterial good = write(files, DAY, "t.example");
        tls.look();
        assertThat(shown(tls, null)).isEqualTo(good.leaf());
    }

    @Test
    void aHalfWrittenFileReplacesNothing() throws IOException {
        CertificateFiles files = pair("edge", "t.example");
        ListenerTls tls = load(files);
        X509Certificate before = shown(tls, null);

        String whole = Files.readString(files.certificate());
        Files.writeString(files.certificate(), whole.substring(0, 200));
        tls.look();
        tls.look();

        assertThat(shown(tls, null)).isEqualTo(before);
        assertThat(warnings()).singleElement().asString().contains("edge.crt: ", "expected: ");
    }

    @Test
    void aFileThatIsGoneReplacesNothing() throws IOException {
        CertificateFiles files = pair("edge", "t.example");
        ListenerTls tls = load(files);
        X509Certificate before = shown(tls, null);

        Files.delete(files.key());
        tls.look();
        tls.look();

        assertThat(shown(tls, null)).isEqualTo(before);
        assertThat(warnings()).singleElement()
                .asString()
                .contains("edge.key: no such file (expected: a PEM private key)");
    }

    @Test
    void anEndedCertificateReplacesNothing() {
        CertificateFiles files = pair("edge", "t.example");
        ListenerTls tls = load(files);
        X509Certificate before = shown(tls, null);

        write(files, Duration.ofMinutes(1), "t.example");
        clock.move(Duration.ofMinutes(2));
        tls.look();
        tls.look();

        assertThat(shown(tls, null)).isEqualTo(before);
        assertThat(warnings()).singleElement()
                .asString()
                .contains("edge.crt: the certificate ended at", "(expected: one that is valid now)");
    }

    @Test
    void onePairThatIsBadDoesNotKeepAnotherFromBeingTaken() throws IOException {
        CertificateFiles own = pair("edge", "t.example");
        CertificateFiles custom = pair("git", "git.acme.example");
        ListenerTls tls = load(own, custom);

        Files.writeString(own.certificate(), "nonsense");
        TlsMaterial next = write(custom, DAY, "git.acme.example");
        tls.look();

        assertThat(shown(tls, "git.acme.example")).isEqualTo(next.leaf());
        assertThat(subject(tls, null)).isEqualTo("CN=t.example");
    }

    @Test
    void theFirstEndIsTold() {
        CertificateFiles soon = files("soon");
        TlsMaterial first = write(soon, Duration.ofHours(1), "git.acme.example");

        assertThat(load(pair("edge", "t.example"), soon).notAfter())
                .isEqualTo(first.leaf().getNotAfter().toInstant());
    }

    @Test
    void aStartWithFilesThatCantBeUsedNamesThem() throws IOException {
        CertificateFiles files = pair("edge", "t.example");
        Files.delete(files.key());

        assertThatThrownBy(() -> load(files)).isInstanceOf(CertsException.class)
                .hasMessageContaining("edge.key");
    }
}
