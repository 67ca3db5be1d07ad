package dev.culvert.relay.listen;

import io.netty.channel.Channel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.ChannelGroupFuture;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.AttributeKey;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.time.Duration;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/**
 * A set of connections that are closed together: those of callers, or those of tunnel clients. Safe for use
 * by any thread.
 */
public final class OpenConnections {
    private static final AttributeKey<OpenConnections> OWNER = AttributeKey.valueOf(OpenConnections.class,
            "owner");

    private final ChannelGroup open = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);

    /**
     * Adds a connection and removes it from its previous set. A connection added after {@link #end} is
     * closed.
     */
    public void add(Channel channel) {
        OpenConnections before = channel.attr(OWNER).getAndSet(this);
        open.add(channel);
        if (before != null) {
            before.open.remove(channel);
        }
    }

    public int count() {
        return open.size();
    }

    /**
     * Asks all connections to close after their present exchange, and waits up to {@code grace}. Then asks
     * the rest to close at once, and closes those that are left after {@code lastWords}.
     */
    public Mono<Void> end(Duration grace, Duration lastWords) {
        Mono<Void> allClosed = done(open::newCloseFuture);
        Mono<Void> cut = Mono.<Void>fromRunnable(() -> tell(RelayListener.CUT))
                .then(allClosed.timeout(lastWords, done(open::close)));
        return Mono.<Void>fromRunnable(() -> tell(RelayListener.DRAIN)).then(allClosed.timeout(grace, cut));
    }

    private static Mono<Void> done(Supplier<ChannelGroupFuture> future) {
        return Mono.create(sink -> future.get().addListener(done -> sink.success()));
    }

    private void tell(Object event) {
        open.forEach(channel -> channel.pipeline().fireUserEventTriggered(event));
    }
}
