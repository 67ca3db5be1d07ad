package dev.culvert.platform.directory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.RequestContext;
import dev.culvert.platform.directory.store.KeyText;
import dev.culvert.platform.host.StoreSettings;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class KeyCheckTest {
    /** A tenth of PostgreSQL's queue: reads and changes need the rest. */
    private static final int MAX_LOOK_UPS = 100;

    private final KeyCheck keys = new KeyCheck(token -> Mono.never(), account -> Mono.never(),
            StoreSettings.postgres("postgresql://127.0.0.1/culvert", "culvert").maxWaiting());
    private final List<HandlerException.Reason> flood = new ArrayList<>();

    @Test
    void aFloodOfKeysGivesWayToAnotherSource() {
        for (int i = 0; i < MAX_LOOK_UPS + 1; i++) {
            lookUp("127.0.0.66", flood);
        }
        assertThat(flood).containsExactly(HandlerException.Reason.OVERLOADED);

        List<HandlerException.Reason> honest = new ArrayList<>();
        lookUp("127.0.0.7", honest);

        assertThat(honest).isEmpty();
        assertThat(flood).hasSize(2).containsOnly(HandlerException.Reason.OVERLOADED);
    }

    @Test
    void callersBehindAProxyAreOnDifferentAccounts() {
        InetSocketAddress proxy = new InetSocketAddress("10.0.0.1", 1);
        for (int i = 0; i < MAX_LOOK_UPS; i++) {
            lookUp(RequestContext.of("r", proxy).withSource(address("192.0.2.66")), flood);
        }

        List<HandlerException.Reason> honest = new ArrayList<>();
        lookUp(RequestContext.of("r", proxy).withSource(address("192.0.2.7")), honest);

        assertThat(honest).isEmpty();
        assertThat(flood).containsExactly(HandlerException.Reason.OVERLOADED);
    }

    private static InetAddress address(String literal) {
        return new InetSocketAddress(literal, 1).getAddress();
    }

    private void lookUp(String source, List<HandlerException.Reason> refused) {
        lookUp(RequestContext.of("r", new InetSocketAddress(source, 1)), refused);
    }

    private void lookUp(RequestContext context, List<HandlerException.Reason> refused) {
        keys.caller(new DefaultHttpHeaders().set("authorization", KeyText.create().reveal()), context)
                .subscribe(holder -> {}, failed -> refused.add(((HandlerException) failed).reason()));
    }
}
