package dev.culvert.relay.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.config.HostPort;
import io.netty.channel.ConnectTimeoutException;
import io.netty.util.NetUtil;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class EndpointsTest {
    private static final Ejection RULES = new Ejection(3, Duration.ofSeconds(5), Duration.ofSeconds(20), 50);

    private long now = 1;
    private final Endpoints endpoints = new Endpoints("name:80", RULES, () -> now);

    private List<Endpoint> found(int... ports) {
        endpoints.found(endpoints.epoch(), IntStream.of(ports).mapToObj(EndpointsTest::target).toList());
        List<Endpoint> all = new ArrayList<>();
        for (Endpoint next = endpoints.pick(all); next != null; next = endpoints.pick(all)) {
            all.add(next);
        }
        all.sort((one, other) -> one.address().getPort() - other.address().getPort());
        return all;
    }

    private static Endpoints.Found target(int port) {
        return new Endpoints.Found(null, List.of(address(port)));
    }

    private static InetSocketAddress address(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    private void fail(Endpoint endpoint, int times) {
        for (int i = 0; i < times; i++) {
            endpoints.failed(endpoint);
        }
    }

    private int picked() {
        return Objects.requireNonNull(endpoints.pick(List.of())).address().getPort();
    }

    private void pass(Duration time) {
        now += time.toNanos();
    }

    @Test
    void anAddressThatRefusesIsNamedInPlainWords() {
        Endpoint endpoint = found(41300).getFirst();

        endpoints.trouble(endpoint,
                new ConnectException("finishConnect(..) failed: Connection refused: /x:1"));
        assertThat(endpoints.trouble()).isEqualTo("127.0.0.1:41300 refused the connection");
        endpoints.trouble(endpoint, new ConnectTimeoutException("connection timed out after 1 ms"));
        assertThat(endpoints.trouble()).isEqualTo("127.0.0.1:41300 did not accept a connection in time");
    }

    @Test
    void theOneWithTheFewestExchangesIsNext() {
        List<Endpoint> all = found(1, 2, 3);
        all.get(0).begin();
        all.get(2).begin();
        all.get(2).begin();

        assertThat(picked()).isEqualTo(2);
        all.get(1).begin();
        all.get(1).begin();
        assertThat(picked()).isEqualTo(1);
    }

    @Test
    void threeFailuresInARowLeaveAnAddressOut() {
        Endpoint bad = found(1, 2).getFirst();
        fail(bad, 2);
        endpoints.succeeded(bad);
        fail(bad, 2);
        assertThat(bad.isEjected()).isFalse();

        fail(bad, 1);

        assertThat(bad.isEjected()).isTrue();
        assertThat(endpoints.ejected()).isEqualTo(1);
        assertThat(IntStream.range(0, 20).map(i -> picked())).containsOnly(2);
    }

    @Test
    void noMoreThanHalfAreLeftOutAndTheOnlyOneNever() {
        List<Endpoint> all = found(1, 2, 3);
        all.forEach(endpoint -> fail(endpoint, 9));
        assertThat(all.stream().filter(Endpoint::isEjected)).hasSize(1);

        Endpoint only = found(4).getFirst();
        fail(only, 9);
        assertThat(only.isEjected()).isFalse();
        assertThat(endpoints.ejected()).as("those that are gone do not count").isZero();
    }

    @Test
    void halfOpenItGetsOneExchangeAtATimeAndServesAgainWhenThatWorks() {
        List<Endpoint> all = found(1, 2);
        fail(all.getFirst(), 3);
        all.get(1).begin();
        all.get(1).begin();
        assertThat(picked()).isEqualTo(2);

        pass(Duration.ofSeconds(5));
        assertThat(picked()).isEqualTo(1);
        all.getFirst().begin();
        assertThat(picked()).as("it is being tried").isEqualTo(2);
        endpoints.succeeded(all.getFirst());

        assertThat(picked()).isEqualTo(1);
        assertThat(endpoints.ejected()).isZero();
    }

    @Test
    void whatBeganBeforeItWasLeftOutDoesNotKeepItFromBeingTried() {
        List<Endpoint> all = found(1, 2);
        int before = all.getFirst().begin();
        fail(all.getFirst(), 3);
        all.get(1).begin();
        pass(Duration.ofSeconds(5));
        assertThat(picked()).isEqualTo(1);

        int trial = all.getFirst().begin();
        all.getFirst().end(before);
        assertThat(picked()).as("it is being tried").isEqualTo(2);
        all.getFirst().end(trial);

        assertThat(picked()).as("nothing came of it").isEqualTo(1);
    }

    @Test
    void aTrialThatFailedIsOverEvenIfItsExchangeIsNot() {
        List<Endpoint> all = found(1, 2);
        fail(all.getFirst(), 3);
        all.get(1).begin();
        int first = all.getFirst().begin();
        pass(Duration.ofSeconds(5));
        fail(all.getFirst(), 1);

        pass(Duration.ofSeconds(10));
        assertThat(picked()).isEqualTo(1);
        all.getFirst().begin();
        all.getFirst().end(first);

        assertThat(picked()).as("it is being tried again").isEqualTo(2);
    }

    @Test
    void eachTrialThatFailsDoublesTheTimeUpToTheLongest() {
        List<Endpoint> all = found(1, 2);
        all.get(1).begin();
        fail(all.getFirst(), 3);
        for (int seconds : List.of(5, 10, 20, 20)) {
            pass(Duration.ofSeconds(seconds).minusNanos(1));
            assertThat(picked()).as("after %s s", seconds).isEqualTo(2);
            pass(Duration.ofNanos(1));
            assertThat(picked()).as("after %s s", seconds).isEqualTo(1);
            fail(all.getFirst(), 1);
        }
    }

    @Test
    void whenAllOthersWereTriedOneThatIsLeftOutIsBetterThanNone() {
        List<Endpoint> all = found(1, 2);
        fail(all.getFirst(), 3);

        assertThat(endpoints.pick(List.of(all.get(1)))).isEqualTo(all.getFirst());
        assertThat(endpoints.pick(all)).isNull();
    }

    @Test
    void addressesThatStayKeepTheirStateAndThoseThatGoAreForgotten() {
        Endpoint bad = found(1, 2).getFirst();
        fail(bad, 3);

        List<Endpoint> next = found(1, 3);

        assertThat(next.getFirst()).isSameAs(bad);
        assertThat(bad.isEjected()).isTrue();
        assertThat(next).extracting(endpoint -> endpoint.address().getPort()).containsExactly(1, 3);
    }

    @Test
    void aNameThatStopsResolvingIsUsedOnForAWhile() {
        found(1);

        pass(Endpoints.STALE.minusNanos(1));
        endpoints.notFound(endpoints.epoch());
        assertThat(endpoints.areKnown()).isTrue();
        pass(Duration.ofNanos(1));
        endpoints.notFound(endpoints.epoch());

        assertThat(endpoints.areKnown()).isFalse();
    }

    @Test
    void whatWasAskedForBeforeNamesLedElsewhereDoesNotCount() {
        assertThat(endpoints.isDue()).isTrue();
        int asked = endpoints.epoch();
        endpoints.forget();

        assertThat(endpoints.found(asked, List.of(target(1)))).isFalse();
        assertThat(endpoints.notFound(asked)).isFalse();

        assertThat(endpoints.areKnown()).isFalse();
        assertThat(endpoints.isDue()).as("whoever looks looks again").isFalse();
        assertThat(endpoints.found(endpoints.epoch(), List.of(target(2)))).isTrue();
        assertThat(picked()).isEqualTo(2);
    }

    @Test
    void oneLooksAtATimeAndNotTooOften() {
        now = 0;
        assertThat(endpoints.isDue()).isTrue();
        assertThat(endpoints.isDue()).isFalse();
        found(1);
        assertThat(endpoints.isDue()).isFalse();
        pass(Duration.ofSeconds(1));
        assertThat(endpoints.isDue()).isTrue();
    }

    @Test
    void theFamilyThatConnectedIsPreferred() {
        var four = new InetSocketAddress(NetUtil.LOCALHOST4, 1);
        var six = new InetSocketAddress(NetUtil.LOCALHOST6, 1);
        var both = List.of(new Endpoints.Found(new HostPort("localhost", 1), List.of(four, six)));
        endpoints.found(endpoints.epoch(), both);
        Endpoint first = Objects.requireNonNull(endpoints.pick(List.of()));
        assertThat(first.address()).isEqualTo(four);
        Endpoint second = Objects.requireNonNull(endpoints.pick(List.of(first)));
        assertThat(second.address()).isEqualTo(six);

        endpoints.connected(second);
        endpoints.found(endpoints.epoch(), both);

        assertThat(Objects.requireNonNull(endpoints.pick(List.of())).address()).isEqualTo(six);
        fail(second, 5);
        assertThat(endpoints.ejected()).as("a single address of a family is never ejected").isZero();
    }

    @Test
    void anAddressThatWasOutrunComesLastForAWhile() {
        List<Endpoint> all = found(1, 2);
        endpoints.outrun(all.getFirst());
        assertThat(IntStream.range(0, 20).map(i -> picked())).containsOnly(2);

        pass(Endpoints.OUTRUN);

        assertThat(IntStream.range(0, 100).map(i -> picked())).contains(1);
    }
}
