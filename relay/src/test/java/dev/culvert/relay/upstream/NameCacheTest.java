package dev.culvert.relay.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.resolver.dns.DnsCacheEntry;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class NameCacheTest {
    private static final DnsRecord[] NONE = {};

    private final EventLoop loop = new EmbeddedChannel().eventLoop();
    private long now;
    private final NameCache cache = new NameCache(() -> now);

    private void say(String name, int last, int ttlSeconds) throws UnknownHostException {
        cache.cache(name, NONE, InetAddress.getByAddress(new byte[]{127, 0, 0, (byte) last}), ttlSeconds,
                loop);
    }

    private List<String> known(String name) {
        List<? extends DnsCacheEntry> entries = cache.get(name, NONE);
        return entries == null
                ? List.of()
                : entries.stream()
                        .map(entry -> entry.cause() != null ? "absent" : entry.address().getHostAddress())
                        .toList();
    }

    @Test
    void addressesLiveAsLongAsTheFirstOfThemAndTenSecondsAtMost() throws Exception {
        say("a.test", 1, 4);
        now += Duration.ofSeconds(1).toNanos();
        say("A.test.", 2, 60);
        say("b.test", 1, 3600);

        assertThat(known("a.test")).containsExactly("127.0.0.1", "127.0.0.2");
        now += Duration.ofSeconds(3).toNanos();
        assertThat(known("a.test")).isEmpty();
        assertThat(known("b.test")).hasSize(1);
        now += NameCache.LONGEST.toNanos();
        assertThat(known("b.test")).isEmpty();
    }

    @Test
    void aTtlOfZeroIsForOneUse() throws Exception {
        say("a.test", 1, 0);

        assertThat(known("a.test")).isEmpty();
    }

    @Test
    void whatDoesNotExistIsRememberedForAMoment() throws Exception {
        cache.cache("x.test", NONE, new UnknownHostException("x.test"), loop);
        assertThat(known("x.test")).containsExactly("absent");

        say("x.test", 1, 10);
        assertThat(known("x.test")).containsExactly("127.0.0.1");
        cache.cache("y.test", NONE, new UnknownHostException("y.test"), loop);
        now += NameCache.ABSENT.toNanos();

        assertThat(known("y.test")).isEmpty();
    }

    @Test
    void answersThatFailedForOtherReasonsAreNot() {
        cache.cache("x.test", NONE, new IllegalStateException("no socket"), loop);

        assertThat(known("x.test")).isEmpty();
    }

    @Test
    void namesAreBounded() throws Exception {
        for (int i = 0; i < NameCache.MAX_NAMES + 100; i++) {
            say("n" + i + ".test", 1, 10);
        }

        assertThat(cache.size()).isLessThanOrEqualTo(NameCache.MAX_NAMES);
    }
}
