package dev.culvert.relay.outbound;

import dev.culvert.protocol.body.BodyPart;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2EventAdapter;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;

/** Dispatches the frames of an HTTP/2 connection to their exchanges. */
final class Http2UpstreamEvents extends Http2EventAdapter {
    private final Http2UpstreamConnection owner;
    /**
     * The property that holds the endpoint's token of a stream; see
     * {@link dev.culvert.relay.upstream.Endpoint#end}.
     */
    private final Http2Connection.PropertyKey begun;

    Http2UpstreamEvents(Http2UpstreamConnection owner) {
        this.owner = owner;
        this.begun = owner.connection().newKey();
    }

    @Override
    public void onSettingsRead(ChannelHandlerContext ctx, Http2Settings settings) {
        owner.settingsCame();
    }

    @Override
    public void onHeadersRead(ChannelHandlerContext ctx, int id, Http2Headers headers, int padding,
            boolean ended) {
        Http2Exchange exchange = owner.exchangeOf(owner.connection().stream(id));
        if (exchange != null) {
            exchange.fields(headers, ended);
        }
    }

    @Override
    public void onHeadersRead(ChannelHandlerContext ctx, int id, Http2Headers headers, int dependency,
            short weight, boolean exclusive, int padding, boolean ended) {
        onHeadersRead(ctx, id, headers, padding, ended);
    }

    /** Returns only the padding to the window at once. Data bytes return when they are consumed. */
    @Override
    public int onDataRead(ChannelHandlerContext ctx, int id, ByteBuf data, int padding, boolean ended) {
        Http2Exchange exchange = owner.exchangeOf(owner.connection().stream(id));
        if (exchange == null) {
            return data.readableBytes() + padding;
        }
        exchange.responseData(BodyPart.keep(data), ended);
        return padding;
    }

    @Override
    public void onRstStreamRead(ChannelHandlerContext ctx, int id, long code) {
        owner.wasReset(owner.connection().stream(id), code);
    }

    @Override
    public void onUnknownFrame(ChannelHandlerContext ctx, byte type, int id, Http2Flags flags,
            ByteBuf payload) {
        // RFC 9113 §5.5: ignored
    }

    @Override
    public void onGoAwayReceived(int lastStream, long code, ByteBuf words) {
        // Not at once: Netty first closes the streams above the last accepted one.
        owner.retireLater();
    }

    @Override
    public void onStreamActive(Http2Stream stream) {
        stream.setProperty(begun, owner.endpoint().begin());
    }

    @Override
    public void onStreamClosed(Http2Stream stream) {
        Integer number = stream.removeProperty(begun);
        owner.endpoint().end(number == null ? 0 : number);
        owner.streamClosed(stream);
    }
}
