package dev.culvert.relay.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.config.ConfigException;
import dev.culvert.http.observe.Telemetry;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class TlsLinkTest {
    private static final CertificateAuthority CA = CertificateAuthority.create("test", Clock.systemUTC());
    private static final TlsMaterial MATERIAL = CA.issueServer(List.of("t.example"), List.of(),
            Duration.ofDays(1));
    private static final InetSocketAddress PEER = new InetSocketAddress("192.0.2.7", 4711);
    private static final Logger LOG = (Logger) LoggerFactory.getLogger(TlsLink.class);

    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final AtomicLong nanos = new AtomicLong();
    private final Telemetry telemetry = new Telemetry();

    @BeforeEach
    void listen() {
        log.start();
        LOG.addAppender(log);
    }

    @AfterEach
    void close() {
        LOG.detachAppender(log);
        telemetry.close();
    }

    private TlsLink link(String name, PostQuantum postQuantum) {
        return TlsLink.of(name, "tls.postQuantum", postQuantum, nanos::get).shown(telemetry);
    }

    private static SslContext listener(TlsLink link) {
        return link.context(hybridOnly -> TlsContexts.edge(MATERIAL, List.of("h2", "http/1.1"), hybridOnly));
    }

    private static SslContext dialler(TlsLink link) {
        return link.context(hybridOnly -> TlsContexts
                .client(ServerTrust.inAuthorities(List.of(CA.certificate())), null, List.of("h2"),
                        hybridOnly));
    }

    /** A caller that is not ours. */
    private static SslContext stranger(SslProvider provider, String version, String... groups) {
        try {
            SslContextBuilder builder = SslContextBuilder.forClient()
                    .sslProvider(provider)
                    .protocols(version)
                    .endpointIdentificationAlgorithm(null)
                    .trustManager(InsecureTrustManagerFactory.INSTANCE);
            if (groups.length > 0) {
                builder.option(OpenSslContextOption.GROUPS, groups);
            }
            return builder.build();
        } catch (SSLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static SslContext foreignListener(SslProvider provider, String... groups) {
        try {
            return SslContextBuilder.forServer(MATERIAL.key(), MATERIAL.chain())
                    .sslProvider(provider)
                    .option(OpenSslContextOption.GROUPS, groups)
                    .build();
        } catch (SSLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Both ends after one handshake: what each agreed on; null: it failed. */
    private record Ends(@Nullable KeyExchange listener, @Nullable KeyExchange dialler) {}

    private static Ends shake(SslContext server, SslContext client) {
        var there = new EmbeddedChannel();
        var here = new EmbeddedChannel();
        SslHandler listening = server.newHandler(there.alloc());
        SslHandler dialling = client.newHandler(here.alloc(), "t.example", 443);
        TlsLink.watch(server, listening, there, channel -> PEER);
        TlsLink.watch(client, dialling, here);
        if (client.sessionContext() != null && dialling.engine().getClass().getName().startsWith("sun.")) {
            SSLParameters classical = dialling.engine().getSSLParameters();
            classical.setNamedGroups(new String[]{"x25519"});
            dialling.engine().setSSLParameters(classical);
        }
        there.pipeline().addLast(listening);
        here.pipeline().addLast(dialling);
        boolean moving = true;
        while (moving) {
            boolean asked = pass(here, there);
            boolean answered = pass(there, here);
            moving = asked || answered;
            there.runPendingTasks();
            here.runPendingTasks();
        }
        Ends ends = new Ends(TlsLink.agreed(there), TlsLink.agreed(here));
        finish(here);
        finish(there);
        return ends;
    }

    private static boolean pass(EmbeddedChannel from, EmbeddedChannel to) {
        ByteBuf bytes = from.readOutbound();
        if (bytes == null) {
            return false;
        }
        if (!to.isOpen()) {
            bytes.release();
            return true;
        }
        try {
            to.writeOneInbound(bytes);
            if (to.isOpen()) {
                to.flushInbound();
            }
            to.checkException();
        } catch (DecoderException refused) {
            // what the link tells of it is looked at
        }
        return true;
    }

    private static void finish(Channel channel) {
        try {
            ((EmbeddedChannel) channel).finishAndReleaseAll();
        } catch (DecoderException refused) {
            // told before
        }
    }

    private double count(String meter, String... tags) {
        return telemetry.registry().get(meter).tags(tags).functionCounter().count();
    }

    private double handshakes(String link, KeyExchange agreed) {
        return count("culvert.tls.handshakes", "link", link, "version", agreed.version(), "group",
                agreed.group());
    }

    @Test
    void ourEndsAgreeOnThePostQuantumGroupByDefault() {
        Ends ends = shake(listener(link("edge", PostQuantum.PREFER)),
                dialler(link("upstream", PostQuantum.PREFER)));

        assertThat(ends).isEqualTo(new Ends(KeyExchange.X25519MLKEM768, KeyExchange.X25519MLKEM768));
        assertThat(handshakes("edge", KeyExchange.X25519MLKEM768)).isOne();
        assertThat(handshakes("upstream", KeyExchange.X25519MLKEM768)).isOne();
        assertThat(telemetry.scrape()).contains(
                "culvert_tls_handshakes_total{group=\"X25519MLKEM768\",link=\"edge\",version=\"TLSv1.3\"} 1.0");
    }

    @Test
    void classicalCallersAreServedByDefaultAndToldApart() {
        SslContext edge = listener(link("edge", PostQuantum.PREFER));

        assertThat(shake(edge, stranger(SslProvider.JDK, "TLSv1.3")).listener())
                .isEqualTo(KeyExchange.X25519);
        assertThat(shake(edge, stranger(SslProvider.OPENSSL, "TLSv1.3", "P-384")).listener())
                .isEqualTo(KeyExchange.P384);
        assertThat(shake(edge, stranger(SslProvider.OPENSSL, "TLSv1.2")).listener())
                .isEqualTo(KeyExchange.TLS12);
        assertThat(shake(foreignListener(SslProvider.JDK, "x25519"),
                dialler(link("upstream", PostQuantum.PREFER)))
                .dialler()).isEqualTo(KeyExchange.X25519);
        assertThat(shake(edge, stranger(SslProvider.OPENSSL, "TLSv1.3")).listener())
                .isEqualTo(KeyExchange.X25519MLKEM768);
        assertThat(log.list).isEmpty();
    }

    @Test
    void onlyKnownGroupsHaveNames() {
        assertThat(KeyExchange.named("P-256")).isEqualTo(KeyExchange.P256);
        assertThat(KeyExchange.named("P-521")).isEqualTo(KeyExchange.P521);
        assertThat(KeyExchange.named("MLKEM1024")).isEqualTo(KeyExchange.OTHER);
        assertThat(KeyExchange.named(null)).isEqualTo(KeyExchange.OTHER);
    }

    @Test
    void requiringListenersRefuseClassicalCallersAndTellOneOfThemASecond() {
        SslContext edge = listener(link("edge", PostQuantum.REQUIRE));

        assertThat(shake(edge, stranger(SslProvider.JDK, "TLSv1.3")).listener()).isNull();
        assertThat(shake(edge, stranger(SslProvider.OPENSSL, "TLSv1.3", "X25519", "P-256")).listener())
                .isNull();
        assertThat(shake(edge, stranger(SslProvider.OPENSSL, "TLSv1.2")).listener()).isNull();
        assertThat(count("culvert.tls.refused", "link", "edge")).isEqualTo(3);
        assertThat(log.list).hasSize(1);
        assertThat(log.list.getFirst().getFormattedMessage())
                .contains("the caller offers no post-quantum key exchange")
                .contains("update its TLS library, or set prefer");
        assertThat(log.list.getFirst().getKeyValuePairs().toString()).contains("192.0.2.7:4711",
                "TLSv1.3/X25519MLKEM768", "tls.postQuantum: require");

        nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
        shake(edge, stranger(SslProvider.OPENSSL, "TLSv1.2"));
        assertThat(log.list).hasSize(2);
        assertThat(log.list.getLast().getKeyValuePairs().toString()).contains("notTold=\"2\"");

        assertThat(shake(edge, stranger(SslProvider.OPENSSL, "TLSv1.3")).listener())
                .isEqualTo(KeyExchange.X25519MLKEM768);
        assertThat(handshakes("edge", KeyExchange.X25519MLKEM768)).isOne();
        assertThat(handshakes("edge", KeyExchange.X25519)).isZero();
    }

    @Test
    void whoRequiresItOfAServerGetsNoOther() {
        SslContext upstream = dialler(link("upstream", PostQuantum.REQUIRE));

        assertThat(shake(foreignListener(SslProvider.OPENSSL, "X25519"), upstream).dialler()).isNull();
        assertThat(shake(foreignListener(SslProvider.JDK, "x25519"), upstream).dialler()).isNull();
        assertThat(count("culvert.tls.refused", "link", "upstream")).isEqualTo(2);
        assertThat(log.list).hasSize(1);
        assertThat(log.list.getFirst().getFormattedMessage()).contains("the server accepts no post-quantum");
        assertThat(log.list.getFirst().getKeyValuePairs().toString()).contains("t.example:443");
        assertThat(shake(listener(link("edge", PostQuantum.PREFER)), upstream).dialler())
                .isEqualTo(KeyExchange.X25519MLKEM768);
    }

    @Test
    void otherFailuresAreNoRefusals() {
        SslContext edge = listener(link("edge", PostQuantum.REQUIRE));
        var channel = new EmbeddedChannel();
        SslHandler tls = edge.newHandler(channel.alloc());
        TlsLink.watch(edge, tls, channel, any -> PEER);
        channel.pipeline().addLast(tls);

        finish(channel); // the caller left

        assertThat(count("culvert.tls.refused", "link", "edge")).isZero();
        assertThat(log.list).isEmpty();
    }

    @Test
    void aChangeOfItsConfigurationKeepsTheCounts() {
        TlsLink link = link("upstream", PostQuantum.PREFER);
        SslContext edge = listener(link("edge", PostQuantum.PREFER));
        shake(edge, dialler(link));

        shake(edge, dialler(link.with(PostQuantum.REQUIRE)));

        assertThat(handshakes("upstream", KeyExchange.X25519MLKEM768)).isEqualTo(2);
    }

    @Test
    void aRequirementThatTheEngineCannotMeetIsAnErrorAtTheStart() {
        assertThat(PostQuantum.REQUIRE.checked()).isEqualTo(PostQuantum.REQUIRE);
        assertThat(PostQuantum.PREFER.checked("JDK", false)).isEqualTo(PostQuantum.PREFER);
        assertThatThrownBy(() -> PostQuantum.REQUIRE.checked("JDK", true))
                .isInstanceOfSatisfying(ConfigException.class, e -> {
                    assertThat(e.key()).isEqualTo("postQuantum");
                    assertThat(e.expected()).contains("prefer", "JDK", "no X25519MLKEM768", "BoringSSL");
                });
    }
}
