package dev.culvert.relay.tls;

import dev.culvert.http.observe.LinePace;
import dev.culvert.http.observe.Telemetry;
import io.micrometer.core.instrument.FunctionCounter;
import io.netty.channel.Channel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.AttributeKey;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A kind of link: the connections of callers, of the tunnel, or to upstreams. Marks the TLS contexts of its
 * connections. Counts their handshakes by what was agreed, keeps that on the connection, and tells why peers
 * are refused that {@link PostQuantum#REQUIRE} does not let in. Any thread; costs nothing after the
 * handshake.
 */
public final class TlsLink {
    private static final Logger log = LoggerFactory.getLogger(TlsLink.class);

    private static final AttributeKey<TlsLink> OF_CONTEXT = AttributeKey.valueOf(TlsLink.class, "context");
    private static final AttributeKey<KeyExchange> AGREED = AttributeKey.valueOf(TlsLink.class, "agreed");
    /**
     * How the end of a handshake looks to BoringSSL when the two sides have no group or no version in common:
     * to the listener, then to the side that dialled. The latter gets an alert, which may have other causes.
     */
    private static final String[] NOTHING_COMMON = {"NO_SHARED_GROUP", "UNSUPPORTED_PROTOCOL", "WRONG_CURVE",
            "ALERT_HANDSHAKE_FAILURE", "ALERT_PROTOCOL_VERSION", "ALERT_UNEXPECTED_MESSAGE",
            "ALERT_ILLEGAL_PARAMETER"};

    private final String name;
    private final String key;
    private final PostQuantum postQuantum;
    private final Counts counts;

    /** The counts of a link, which outlive a change of its configuration. */
    private record Counts(Map<KeyExchange, LongAdder> agreed, LongAdder refused, LinePace lines) {
        static Counts by(LongSupplier nanos) {
            Map<KeyExchange, LongAdder> agreed = new EnumMap<>(KeyExchange.class);
            for (KeyExchange each : KeyExchange.values()) {
                agreed.put(each, new LongAdder());
            }
            return new Counts(agreed, new LongAdder(), new LinePace(Duration.ofSeconds(1), nanos));
        }
    }

    private TlsLink(String name, String key, PostQuantum postQuantum, Counts counts) {
        this.name = name;
        this.key = key;
        this.postQuantum = postQuantum;
        this.counts = counts;
    }

    /**
     * Creates a link.
     *
     * @param name its name in metrics and logs: {@code edge}, {@code tunnel} or {@code upstream}
     * @param key the key of its configuration, for the log
     */
    public static TlsLink of(String name, String key, PostQuantum postQuantum) {
        return of(name, key, postQuantum, System::nanoTime);
    }

    static TlsLink of(String name, String key, PostQuantum postQuantum, LongSupplier nanos) {
        return new TlsLink(name, key, postQuantum, Counts.by(nanos));
    }

    /** This link, with the same counts, under another configuration. */
    public TlsLink with(PostQuantum changed) {
        return changed == postQuantum ? this : new TlsLink(name, key, changed, counts);
    }

    /** Registers the meters of this link. Returns this link. */
    public TlsLink shown(Telemetry telemetry) {
        counts.agreed.forEach((agreed, count) -> FunctionCounter
                .builder("culvert.tls.handshakes", count, LongAdder::sum)
                .tag("link", name)
                .tag("version", agreed.version())
                .tag("group", agreed.group())
                .register(telemetry.registry()));
        FunctionCounter.builder("culvert.tls.refused", counts.refused, LongAdder::sum)
                .tag("link", name)
                .register(telemetry.registry());
        return this;
    }

    /** Creates a context of this link, which {@code contexts} makes with post-quantum groups only, or all. */
    public SslContext context(Function<Boolean, SslContext> contexts) {
        SslContext context = contexts.apply(postQuantum == PostQuantum.REQUIRE);
        context.attributes().attr(OF_CONTEXT).set(this);
        return context;
    }

    /**
     * Watches the handshake of a connection, which is to begin, by the link of its context; if that has none,
     * does nothing.
     *
     * @param peer the address of the peer, for the log
     */
    public static void watch(SslContext context, SslHandler tls, Channel channel,
            Function<Channel, InetSocketAddress> peer) {
        TlsLink link = context.attributes().attr(OF_CONTEXT).get();
        if (link != null) {
            tls.handshakeFuture().addListener(done -> link.ended(tls, channel, done.cause(), peer));
        }
    }

    /** As above, for a connection that this process dials. */
    public static void watch(SslContext context, SslHandler tls, Channel channel) {
        watch(context, tls, channel, dialled -> InetSocketAddress
                .createUnresolved(tls.engine().getPeerHost(), tls.engine().getPeerPort()));
    }

    /** What the handshake of a connection agreed on; null: it has no TLS, or that of no link. Any thread. */
    public static @Nullable KeyExchange agreed(Channel channel) {
        return channel.attr(AGREED).get();
    }

    private void ended(SslHandler tls, Channel channel, @Nullable Throwable failure,
            Function<Channel, InetSocketAddress> peer) {
        if (failure == null) {
            KeyExchange agreed = KeyExchange.of(tls.engine());
            channel.attr(AGREED).set(agreed);
            Objects.requireNonNull(counts.agreed.get(agreed)).increment();
        } else if (postQuantum == PostQuantum.REQUIRE && isOfGroups(failure)) {
            counts.refused.increment();
            tell(tls.engine().getUseClientMode(), peer.apply(channel));
        }
    }

    private static boolean isOfGroups(Throwable failure) {
        String text = String.valueOf(failure.getMessage());
        return Arrays.stream(NOTHING_COMMON).anyMatch(text::contains);
    }

    private void tell(boolean dialled, InetSocketAddress peer) {
        long refused = counts.lines.add();
        if (refused == 0) {
            return;
        }
        log.atWarn()
                .addKeyValue("link", name)
                .addKeyValue("peer", peer.getHostString() + ":" + peer.getPort())
                .addKeyValue("expected", "TLSv1.3/X25519MLKEM768")
                .addKeyValue("setting", key + ": require")
                .addKeyValue("notTold", refused - 1)
                .log(dialled
                        ? "no TLS: the server accepts no post-quantum key exchange, it seems, and this side offers no other; update its TLS library, or set prefer"
                        : "no TLS: the caller offers no post-quantum key exchange, which is required here; update its TLS library, or set prefer");
    }
}
