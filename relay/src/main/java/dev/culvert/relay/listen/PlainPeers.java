package dev.culvert.relay.listen;

import dev.culvert.config.IpText;
import dev.culvert.http.net.Cidr;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The balancers whose connections a listener accepts if it has no TLS or expects PROXY headers. Other peers
 * are refused, with a warning at most once a minute.
 */
public final class PlainPeers {
    private static final Logger log = LoggerFactory.getLogger(PlainPeers.class);
    private static final long WARN_EVERY_NANOS = Duration.ofMinutes(1).toNanos();

    private final String listener;
    private final List<Cidr> blocks;
    private final AtomicLong nextWarning = new AtomicLong(System.nanoTime());

    /** @param listener the listener's name in the log */
    public PlainPeers(String listener, List<Cidr> blocks) {
        this.listener = listener;
        this.blocks = List.copyOf(blocks);
    }

    boolean include(InetAddress peer) {
        for (Cidr block : blocks) {
            if (block.contains(peer)) {
                return true;
            }
        }
        long now = System.nanoTime();
        long due = nextWarning.get();
        if (now - due >= 0 && nextWarning.compareAndSet(due, now + WARN_EVERY_NANOS)) {
            log.atWarn()
                    .addKeyValue("listener", listener)
                    .addKeyValue("peer", IpText.of(peer))
                    .addKeyValue("expected", blocks)
                    .log("connection closed, its peer is not among the trusted proxies of the listener");
        }
        return false;
    }
}
