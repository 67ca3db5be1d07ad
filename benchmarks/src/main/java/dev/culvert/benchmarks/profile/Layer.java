package dev.culvert.benchmarks.profile;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A part of the data path. A sample belongs to the layer of its innermost frame that has one. */
public enum Layer {
    SOCKETS("system calls: sockets and epoll", "io.netty.channel.epoll.Native",
            "io.netty.channel.epoll.LinuxSocket",
            "io.netty.channel.unix.Socket", "io.netty.channel.unix.FileDescriptor"), TLS("TLS",
                    "io.netty.internal.tcnative", "io.netty.handler.ssl", "sun.security.ssl"), WEBSOCKET(
                            "WebSocket frames", "io.netty.handler.codec.http.websocketx"), HTTP2(
                                    "HTTP/2 codec", "io.netty.handler.codec.http2"), HTTP1("HTTP/1.1 codec",
                                            "io.netty.handler.codec",
                                            "dev.culvert.relay.inbound.http1.Http1Request",
                                            "dev.culvert.relay.inbound.http1.Http1Response",
                                            "dev.culvert.relay.inbound.http1.WholeRe",
                                            "dev.culvert.relay.inbound.http1.HeadLines",
                                            "dev.culvert.relay.outbound.Whole"), PROTOCOL("tunnel protocol",
                                                    "dev.culvert.protocol"), RELAY(
                                                            "relay: heads, rules, exchanges",
                                                            "dev.culvert"), METRICS("metrics",
                                                                    "io.micrometer",
                                                                    "io.prometheus"), BUFFERS("buffers",
                                                                            "io.netty.buffer",
                                                                            "io.netty.util.Recycler",
                                                                            "io.netty.util.internal.Platform"), PIPELINE(
                                                                                    "channels and event loops",
                                                                                    "io.netty"), OTHER(
                                                                                            "other");

    private static final List<Layer> ALL = List.of(values());

    private final String description;
    /** Beginnings of class names. */
    private final List<String> classes;

    Layer(String description, String... classes) {
        this.description = description;
        this.classes = List.of(classes);
    }

    public String description() {
        return description;
    }

    /** The first layer, in their order, that a class belongs to; null for classes of the JDK and others. */
    static @Nullable Layer of(String className) {
        for (Layer layer : ALL) {
            if (layer.classes.stream().anyMatch(className::startsWith)) {
                return layer;
            }
        }
        return null;
    }
}
