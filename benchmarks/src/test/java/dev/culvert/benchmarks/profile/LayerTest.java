package dev.culvert.benchmarks.profile;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LayerTest {
    /** A class that was renamed is not found, so that the budget does not get wrong without a word. */
    @ParameterizedTest
    @CsvSource({"io.netty.channel.epoll.Native, SOCKETS", "io.netty.channel.unix.FileDescriptor, SOCKETS",
            "io.netty.internal.tcnative.SSL, TLS", "io.netty.handler.ssl.SslHandler, TLS",
            "io.netty.handler.codec.http.websocketx.WebSocket13FrameDecoder, WEBSOCKET",
            "io.netty.handler.codec.http2.HpackDecoder, HTTP2",
            "io.netty.handler.codec.http.HttpResponseEncoder, HTTP1",
            "dev.culvert.relay.inbound.http1.Http1RequestDecoder, HTTP1",
            "dev.culvert.relay.inbound.http1.WholeRequestReader, HTTP1",
            "dev.culvert.relay.outbound.WholeResponseReader, HTTP1",
            "dev.culvert.protocol.session.Session, PROTOCOL",
            "dev.culvert.relay.inbound.http1.Http1EdgeConnection, RELAY",
            "dev.culvert.relay.exchange.EdgeExchange, RELAY",
            "io.micrometer.core.instrument.Counter, METRICS",
            "io.netty.buffer.PooledByteBuf, BUFFERS", "io.netty.channel.DefaultChannelPipeline, PIPELINE"})
    void aClassHasALayer(String name, Layer layer) throws ClassNotFoundException {
        assertThat(Class.forName(name, false, LayerTest.class.getClassLoader())).isNotNull();
        assertThat(Layer.of(name)).isEqualTo(layer);
    }
}
