package dev.culvert.relay.inbound.http1;

import dev.culvert.http.net.JudgedRequestDecoder;
import dev.culvert.relay.quota.CallerLimits;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpRequest;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/** Decodes HTTP/1.1 requests of the edge. Those of the usual form take a shorter way. */
public final class Http1RequestDecoder extends JudgedRequestDecoder {
    private final WholeRequestReader whole;
    private BooleanSupplier stopped = () -> false;

    public Http1RequestDecoder(CallerLimits limits) {
        super((int) limits.maxUriBytes().bytes(), (int) limits.maxHeadBytes().bytes());
        whole = new WholeRequestReader(limits);
    }

    /** Passes requests for these targets on as {@link HttpRequest}, never as {@link WholeRequest}. */
    void decline(Predicate<CharSequence> targets) {
        whole.decline(targets);
    }

    /**
     * Decodes no further message while {@code condition} holds, because messages need less memory as bytes.
     * Decoding continues with the next read, or an empty one.
     */
    void stopWhile(BooleanSupplier condition) {
        stopped = condition;
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
        if (stopped.getAsBoolean()) {
            return;
        }
        WholeRequest request = isUntouched() ? whole.read(in) : null;
        if (request != null) {
            out.add(request);
            return;
        }
        super.decode(ctx, in, out);
    }
}
