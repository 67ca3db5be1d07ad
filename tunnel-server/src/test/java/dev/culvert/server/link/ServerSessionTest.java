package dev.culvert.server.link;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.KeyPairs;
import dev.culvert.certs.KeyProof;
import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.frame.StreamKind;
import dev.culvert.protocol.netty.SessionMeter;
import dev.culvert.protocol.netty.StreamListener;
import dev.culvert.protocol.netty.WindowPool;
import dev.culvert.protocol.session.SessionEvent.StreamReset;
import dev.culvert.relay.quota.MemoryBudget;
import dev.culvert.relay.testing.MovableClock;
import dev.culvert.server.enrol.CertificateIssuer;
import dev.culvert.server.enrol.RenewalService;
import dev.culvert.server.enrol.RenewalService.Proven;
import dev.culvert.server.runtime.EnrolmentTokens;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeRegistrar;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.store.SqliteRuntimeStore;
import dev.culvert.server.store.StoreLimits;
import dev.culvert.server.tunnel.HeldRequests;
import dev.culvert.server.tunnel.ServerEvents;
import dev.culvert.server.tunnel.TunnelEnds;
import dev.culvert.server.tunnel.TunnelRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Who is let in, whatever happens between a client's certificate and its hello. */
class ServerSessionTest {
    private static final RuntimeName PROD = new RuntimeName("acme", "prod");
    private static final Duration LIFE = Duration.ofDays(1);
    /** Longer than the grace of a drain. */
    private static final Duration DRAIN = Duration.ofSeconds(31);
    private static final String HOST = "t.example";
    private static final UUID FIRST = new UUID(1, 1);
    private static final UUID SECOND = new UUID(2, 2);

    @TempDir
    Path folder;
    private final MovableClock clock = new MovableClock();
    private final CertificateAuthority ca = CertificateAuthority.create("test", clock);
    private final KeyPair keys = KeyPairs.generate();
    private final Queue<Runnable> held = new ArrayDeque<>();
    private final ServerEvents events = new ServerEvents(clock);
    private final List<String> announced = new ArrayList<>();
    private final ServerSession.Told told = new ServerSession.Told() {
        @Override
        public void live(RegisteredRuntime runtime) {
            announced.add("live");
        }

        @Override
        public void announced(RegisteredRuntime runtime, byte[] document) {
            announced.add(new String(document, StandardCharsets.UTF_8));
        }
    };
    private final TunnelRegistry registry = new TunnelRegistry(clock, new AtomicLong()::incrementAndGet,
            events, new HeldRequests(MemoryBudget.ofProcess(0)));
    private Duration opening = Duration.ofSeconds(5);
    private final List<TunnelEnds> all = new ArrayList<>();
    private RuntimeStore store;
    private RuntimeRegistrar registrar;
    private RegisteredRuntime runtime;

    @BeforeEach
    void open() {
        store = await(SqliteRuntimeStore.open(folder, HOST, StoreLimits.defaults(), clock));
        registrar = new RuntimeRegistrar(store, registry, new EnrolmentTokens(ca.certificate()), HOST, clock,
                gone -> {});
        runtime = await(registrar.register(PROD, List.of())).runtime();
    }

    @AfterEach
    void close() {
        all.forEach(TunnelEnds::close);
        store.close().block();
    }

    private TunnelSessions sessions(RuntimeStore seen, Scheduler judging) {
        var renewal = new RenewalService(seen, new CertificateIssuer(ca, LIFE), clock,
                Schedulers.immediate(), judging);
        return new TunnelSessions(new ServerSession.Shared(seen, registry, renewal, events, told,
                new RuntimeWindows(new WindowPool(0, () -> true)), clock), new SessionMeter(), "test/1");
    }

    private TunnelEnds dial(TunnelSessions server, @Nullable Proven proven, UUID instance, int connection) {
        TunnelEnds ends = TunnelEnds.of(instance, connection, true, Hello.AUTH | Hello.PROOF,
                ctx -> server.start(ctx, proven, HOST, opening));
        all.add(ends);
        drive();
        return ends;
    }

    private void drive() {
        all.forEach(TunnelEnds::drive);
    }

    /** A client that has proven its certificate, which waits to be judged. */
    private TunnelEnds proving(Scheduler judging) throws GeneralSecurityException {
        TunnelEnds ends = dial(sessions(store, judging), null, FIRST, 0);
        X509Certificate certificate = ca.issueClient(CertificateRequest.create(keys),
                new ClientIdentity("acme", "prod", runtime.identity()), LIFE);
        byte[] der = certificate.getEncoded();
        byte[] proof = KeyProof.opening(Objects.requireNonNull(ends.proofWanted).nonce().bytes(),
                ends.hello.nonce().bytes(), der, HOST).sign(keys.getPrivate());
        ends.prove(der, proof);
        return ends;
    }

    private Scheduler holding() {
        return Schedulers.fromExecutor(held::add);
    }

    private void judge() {
        while (!held.isEmpty()) {
            held.remove().run();
        }
        drive();
    }

    private Proven proven(RegisteredRuntime whose) {
        return new Proven(whose, clock.instant().plus(LIFE));
    }

    @Test
    void aClientIsLetInWhenItsCertificateIsJudged() throws Exception {
        proving(holding());
        assertThat(registry.sessions()).isEmpty();

        judge();

        assertThat(registry.sessionsOf(runtime.id())).hasSize(1);
    }

    @Test
    void aClientThatHasGoneBeforeItsCertificateIsJudgedIsNotLetIn() throws Exception {
        TunnelEnds gone = proving(holding());

        gone.breakOff();
        judge();

        assertThat(registry.sessions()).isEmpty();
        assertThat(registry.isExpected(runtime)).isFalse();
    }

    @Test
    void aClientThatHasGoneBeforeItsCertificateIsJudgedTakesNothingOver() throws Exception {
        TunnelEnds gone = proving(holding());
        TunnelEnds owner = dial(sessions(store, holding()), proven(runtime), SECOND, 0);

        gone.breakOff();
        judge();

        assertThat(owner.goneAway).isEmpty();
        assertThat(registry.sessionsOf(runtime.id())).hasSize(1);
    }

    @Test
    void aClientThatCantBeJudgedNowMayComeAgain() throws Exception {
        TunnelEnds refused = proving(Schedulers.fromExecutor(task -> {
            throw new RejectedExecutionException("full");
        }));
        drive();

        assertThat(refused.goneAway).containsExactly(ErrorCode.OVERLOADED);
        assertThat(refused.isOpen()).isFalse();
    }

    @Test
    void aRenewalThatCantBeJudgedNowIsOverloadedAndTheSessionStays() {
        TunnelEnds live = dial(sessions(store, Schedulers.fromExecutor(task -> {
            throw new RejectedExecutionException("full");
        })), proven(runtime), FIRST, 0);

        live.prove(new byte[]{1}, new byte[]{2});
        drive();

        assertThat(live.authAnswers).containsExactly(ErrorCode.OVERLOADED);
        assertThat(live.isOpen()).isTrue();
    }

    @Test
    void whatIsNoCertificateIsUnauthorizedNotOverloaded() {
        TunnelEnds live = dial(sessions(store, Schedulers.immediate()), proven(runtime), FIRST, 0);

        live.prove(new byte[]{1}, new byte[]{2});
        drive();

        assertThat(live.authAnswers).containsExactly(ErrorCode.UNAUTHORIZED);
    }

    @Test
    void anIdentityRevokedBeforeItsHelloTouchesNoGoodSession() {
        Proven stale = proven(runtime);
        await(registrar.revoke(PROD));
        TunnelSessions server = sessions(store, holding());
        TunnelEnds good = dial(server, proven(Objects.requireNonNull(store.byName(PROD))), FIRST, 0);

        TunnelEnds refused = dial(server, stale, SECOND, 0);

        assertThat(refused.goneAway).containsExactly(ErrorCode.UNAUTHORIZED);
        assertThat(good.goneAway).isEmpty();
        assertThat(registry.sessionsOf(runtime.id())).singleElement()
                .satisfies(session -> assertThat(session.state()).isEqualTo("open"));
    }

    @Test
    void anIdentityRevokedWhileItIsLetInLosesThisSessionOnly() {
        Proven stale = proven(runtime);
        await(registrar.revoke(PROD));
        TunnelEnds good = dial(sessions(store, holding()),
                proven(Objects.requireNonNull(store.byName(PROD))), FIRST, 0);

        TunnelEnds refused = dial(sessions(revokingAfterOneLook(stale), holding()), stale, FIRST, 1);

        assertThat(refused.goneAway).containsExactly(ErrorCode.UNAUTHORIZED);
        assertThat(good.goneAway).isEmpty();
        assertThat(registry.sessionsOf(runtime.id())).hasSize(1);
    }

    @Test
    void whoProvesNothingInItsTimeIsSentAway() {
        opening = Duration.ofMillis(10);

        TunnelEnds silent = dial(sessions(store, holding()), null, FIRST, 0);

        Awaitility.await().until(() -> {
            silent.drive();
            return !silent.isOpen();
        });
        assertThat(silent.goneAway).containsExactly(ErrorCode.TIMEOUT);
    }

    /** A session of connection 0 with a stream, after another one has replaced it. */
    private TunnelEnds replaced(Scheduler judging) {
        TunnelSessions server = sessions(store, judging);
        TunnelEnds old = dial(server, proven(runtime), FIRST, 0);
        old.handler()
                .open(StreamKind.HTTP, new DefaultHttp2Headers(false, 4).method("GET")
                        .scheme("https")
                        .authority("a")
                        .path("/"), false, new NoStream());
        dial(server, proven(runtime), FIRST, 0);
        drive();
        assertThat(old.goneAway).containsExactly(ErrorCode.DRAINING);
        return old;
    }

    /** Proves a certificate that is issued now. */
    private void renew(TunnelEnds session) throws GeneralSecurityException {
        byte[] der = ca.issueClient(CertificateRequest.create(keys),
                new ClientIdentity("acme", "prod", runtime.identity()), LIFE).getEncoded();
        session.prove(der, KeyProof.session(session.serverHello().nonce().bytes(),
                session.hello.nonce().bytes(), der).sign(keys.getPrivate()));
    }

    private void pass(TunnelEnds session, Duration time) {
        clock.advance(time);
        session.pass(time);
    }

    @Test
    void replacedSessionIsCutAfterItsCertificate() {
        TunnelEnds old = replaced(Schedulers.immediate());

        pass(old, LIFE);
        assertThat(old.isOpen()).isTrue();
        pass(old, DRAIN);

        assertThat(old.isOpen()).isFalse();
    }

    @Test
    void replacedSessionThatProvesAnotherOneGoesOn() throws Exception {
        TunnelEnds old = replaced(Schedulers.immediate());
        for (int renewal = 0; renewal < 3; renewal++) {
            pass(old, LIFE.dividedBy(2));
            renew(old);
            drive();
        }

        pass(old, LIFE.minusSeconds(1));
        assertThat(old.authAnswers).containsOnly(ErrorCode.NO_ERROR).hasSize(3);
        assertThat(old.isOpen()).isTrue();
        pass(old, Duration.ofSeconds(2));
        pass(old, DRAIN);

        assertThat(old.isOpen()).isFalse();
    }

    @Test
    void certificateThatEndsDuringAVerdictWaitsForIt() throws Exception {
        TunnelEnds session = dial(sessions(store, holding()), proven(runtime), FIRST, 0);
        pass(session, LIFE.minusSeconds(1));
        renew(session);

        pass(session, Duration.ofSeconds(1));
        judge();

        assertThat(session.authAnswers).containsExactly(ErrorCode.NO_ERROR);
        assertThat(session.goneAway).isEmpty();
    }

    @Test
    void refusalAfterTheCertificateEndedDrains() {
        TunnelEnds session = dial(sessions(store, holding()), proven(runtime), FIRST, 0);
        session.prove(new byte[]{1}, new byte[]{2});

        pass(session, LIFE);
        assertThat(session.goneAway).isEmpty();
        judge();

        assertThat(session.authAnswers).containsExactly(ErrorCode.UNAUTHORIZED);
        assertThat(session.goneAway).containsExactly(ErrorCode.DRAINING);
    }

    @Test
    void revocationClosesReplacedSessionsAtOnce() throws Exception {
        TunnelEnds old = replaced(holding());
        renew(old);

        await(registrar.revoke(PROD));
        judge();

        assertThat(all).allSatisfy(session -> assertThat(session.isOpen()).isFalse());
        assertThat(registry.sessions()).isEmpty();
    }

    private static final class NoStream implements StreamListener {
        @Override
        public void data(ByteBuf body, boolean last) {
            body.release();
        }

        @Override
        public void trailers(Http2Headers trailers) {}

        @Override
        public void sent(int bytes) {}

        @Override
        public void reset(StreamReset reset) {}
    }

    /** The store, which still knows an identity when it is first asked for it. */
    private RuntimeStore revokingAfterOneLook(Proven stale) {
        var looks = new AtomicInteger();
        return (RuntimeStore) Proxy.newProxyInstance(RuntimeStore.class.getClassLoader(),
                new Class<?>[]{RuntimeStore.class},
                (proxy, method, arguments) -> method.getName().equals("byIdentity")
                        && looks.getAndIncrement() == 0 ? stale.runtime() : method.invoke(store, arguments));
    }
}
