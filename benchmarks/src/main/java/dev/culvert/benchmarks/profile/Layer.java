package dev.culvert.benchmarks.profile;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A part of the data path. A sample belongs to the layer of its innermost frame that has one. */
public enum Layer {
    SOCKETS("system calls: sockets and epoll"), TLS("TLS"), WEBSOCKET("WebSocket frames"), HTTP2(
            "HTTP/2 codec"), HTTP1("HTTP/1.1 codec"), PROTOCOL("tunnel protocol"), RELAY(
                    "relay: heads, rules, exchanges"), METRICS("metrics"), BUFFERS(
                            "buffers"), PIPELINE("channels and event loops"), OTHER("other");

    /** The first one that fits counts. */
    private static final List<Classes> CLASSES = new ArrayList<>();

    static {
        are(SOCKETS, "io.netty.channel.epoll.Native", "io.netty.channel.epoll.LinuxSocket",
                "io.netty.channel.unix.Socket", "io.netty.channel.unix.FileDescriptor");
        are(TLS, "io.netty.internal.tcnative", "io.netty.handler.ssl", "sun.security.ssl");
        are(WEBSOCKET, "io.netty.handler.codec.http.websocketx");
        are(HTTP2, "io.netty.handler.codec.http2");
        are(HTTP1, "io.netty.handler.codec", "dev.culvert.relay.inbound.http1.Http1Request",
                "dev.culvert.relay.inbound.http1.Http1Response", "dev.culvert.relay.inbound.http1.WholeRe",
                "dev.culvert.relay.inbound.http1.HeadLines", "dev.culvert.relay.outbound.Whole");
        are(PROTOCOL, "dev.culvert.protocol");
        are(RELAY, "dev.culvert");
        are(METRICS, "io.micrometer", "io.prometheus");
        are(BUFFERS, "io.netty.buffer", "io.netty.util.Recycler", "io.netty.util.internal.Platform");
        are(PIPELINE, "io.netty");
    }

    private final String description;

    Layer(String description) {
        this.description = description;
    }

    /** The classes whose names begin like this. */
    private record Classes(String beginning, Layer layer) {}

    private static void are(Layer layer, String... beginnings) {
        for (String beginning : beginnings) {
            CLASSES.add(new Classes(beginning, layer));
        }
    }

    public String description() {
        return description;
    }

    /** The layer that a class belongs to; null for classes of the JDK and others. */
    static @Nullable Layer of(String className) {
        return CLASSES.stream()
                .filter(classes -> className.startsWith(classes.beginning))
                .map(Classes::layer)
                .findFirst()
                .orElse(null);
    }
}
