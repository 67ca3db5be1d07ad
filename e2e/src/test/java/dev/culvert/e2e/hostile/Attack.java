package dev.culvert.e2e.hostile;

import dev.culvert.certs.TlsMaterial;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * One run of a scenario: its pace, its peers, and what they saw that should not be. Attackers expect to be refused and cut:
 * an IOException is counted, and ends the action that got it, no more. Closing it hangs up.
 */
final class Attack implements AutoCloseable {
    private static final int ADDRESSES = 250;
    /** Handshakes: more only wait for a CPU. */
    private static final int AT_ONCE = 16;
    private static final long NANOS = Duration.ofSeconds(1).toNanos();

    final Target target;
    private final int number;
    private final Duration time;
    private final Queue<AutoCloseable> peers = new ConcurrentLinkedQueue<>();
    private final Queue<String> faults = new ConcurrentLinkedQueue<>();
    private final Queue<String> notes = new ConcurrentLinkedQueue<>();
    private final Map<String, Integer> answers = new ConcurrentSkipListMap<>();
    private final AtomicLong done = new AtomicLong();
    private final AtomicLong cut = new AtomicLong();
    private volatile long end;
    private volatile boolean closed;

    /** @param number of its scenario, which has its own address and runtime: several may attack at once */
    Attack(Target target, int number, Duration time) {
        this.target = target;
        this.number = number;
        this.time = time;
        begins();
    }

    /** What an attacker does once. */
    interface Action {
        void run() throws Exception;
    }

    /** Whether the attack goes on. */
    boolean runs() {
        return !closed && System.nanoTime() - end < 0;
    }

    /** Whether the peers are still there: they stay while the server is judged. */
    boolean isOpen() {
        return !closed;
    }

    /** An attacker's own address; there are 250. */
    static String source(int number) {
        return "127.0.2." + (1 + number % ADDRESSES);
    }

    /** Its time counts from now. */
    void begins() {
        end = System.nanoTime() + time.toNanos();
    }

    /** Closes a peer when the attack ends. */
    <P extends AutoCloseable> P keep(P peer) {
        peers.add(peer);
        if (closed) {
            close();
        }
        return peer;
    }

    /** Connects something. */
    interface Connect<P extends AutoCloseable> {
        P connect() throws Exception;
    }

    /** Connects peers, that many or those that the server lets in; the attack's time counts from when that is done. */
    <P extends AutoCloseable> List<P> connected(double count, Connect<P> connect)
            throws InterruptedException {
        Queue<P> connected = new ConcurrentLinkedQueue<>();
        var places = new Semaphore(AT_ONCE);
        for (int i = 0; i < Math.max(1, count); i++) {
            places.acquire();
            Thread.ofVirtual().start(() -> {
                attempt(() -> connected.add(keep(connect.connect())));
                places.release();
            });
        }
        places.acquire(AT_ONCE);
        begins();
        return List.copyOf(connected);
    }

    /** Does something on a thread of its own. */
    void aside(Action action) {
        Thread.ofVirtual().start(() -> attempt(action));
    }

    /** Repeats an action at a rate per second until the attack ends, each time on a thread of its own. */
    void paced(double perSecond, Action action) {
        long next = System.nanoTime();
        while (runs()) {
            aside(action);
            next += (long) (NANOS / perSecond);
            LockSupport.parkNanos(next - System.nanoTime());
        }
    }

    /** Repeats an action at most at a rate per second until the attack ends or a peer leaves, one after the other. */
    void inTurn(double perSecond, Action action) {
        Thread.ofVirtual().start(() -> {
            long next = System.nanoTime();
            while (runs() && attempt(action)) {
                next = Math.max(next + (long) (NANOS / perSecond), System.nanoTime() - NANOS);
                LockSupport.parkNanos(next - System.nanoTime());
            }
        });
    }

    void awaitEnd() {
        while (runs()) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
    }

    /** Returns whether the action was done. */
    private boolean attempt(Action action) {
        try {
            action.run();
            done.incrementAndGet();
            return true;
        } catch (IOException e) {
            cut.incrementAndGet();
        } catch (Exception e) {
            faults.add(e.toString());
        }
        return false;
    }

    /** The server did what it must not. */
    void fault(String fault) {
        faults.add(fault);
    }

    List<String> faults() {
        return faults.stream().distinct().limit(5).toList();
    }

    /** Says something about the attack in the report. */
    void note(String note) {
        notes.add(note);
    }

    /** Counts the answer that begins with this head. */
    void answered(String head) {
        answers.merge(head.substring(0, Math.min(12, head.length())), 1, Integer::sum);
    }

    /** For the report: actions that were done, and those that the server cut. */
    String account() {
        return done + " done, " + cut + " cut " + notes + (answers.isEmpty() ? "" : " " + answers);
    }

    /** Where its callers and clients come from, if from one place. */
    String address() {
        return "127.0.3." + (1 + number);
    }

    /** The runtime that is its own. */
    int runtime() {
        return Target.SPARE_RUNTIMES + number;
    }

    /** The host of its own runtime. */
    String host() {
        return Target.attackersHost(runtime());
    }

    /** The certificate of its own runtime. */
    TlsMaterial identity() throws IOException {
        return identity(runtime());
    }

    /** A certificate of one of the attacker's runtimes. */
    TlsMaterial identity(int runtime) throws IOException {
        return RawIdentity.of(target, source(runtime), Target.ATTACKER, "r" + runtime);
    }

    @Override
    public void close() {
        closed = true;
        for (AutoCloseable peer = peers.poll(); peer != null; peer = peers.poll()) {
            try {
                peer.close();
            } catch (Exception e) {
                // it was cut before
            }
        }
    }
}
