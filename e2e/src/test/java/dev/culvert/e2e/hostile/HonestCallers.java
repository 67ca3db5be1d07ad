package dev.culvert.e2e.hostile;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * Callers of an attacked runtime that do nothing wrong: at most four requests of an address in flight, each on a connection of
 * its own. Some come from one address that has been served before the attack, the others each from an address that comes for
 * the first time.
 */
final class HonestCallers {
    private static final int IN_FLIGHT = 4;
    private static final double PER_SECOND = 10;
    private static final String KNOWN = "127.0.9.1";
    private static final int ADDRESSES = 250;
    /** Newcomers may have to wait for that long (figures.md). */
    private static final long NEWCOMERS_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Attack attack;
    private final Semaphore places = new Semaphore(IN_FLIGHT);
    private final AtomicInteger known = new AtomicInteger();
    private final AtomicInteger newcomers = new AtomicInteger();
    private final AtomicInteger newcomersLater = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();

    private HonestCallers(Attack attack) {
        this.attack = attack;
    }

    /** Is served once, and begins to call; the attack's time counts from then. */
    static HonestCallers begin(Attack attack) throws InterruptedException {
        var callers = new HonestCallers(attack);
        callers.await(KNOWN);
        attack.begins();
        attack.aside(() -> attack.paced(PER_SECOND, callers::callAsKnown));
        attack.aside(() -> attack.paced(PER_SECOND / 5, callers::callAsNewcomer));
        return callers;
    }

    private void await(String address) throws InterruptedException {
        String answer = "";
        for (int i = 0; i < 100 && !answer.isEmpty() || i == 0; i++) {
            answer = call(address);
            if (!answer.isEmpty()) {
                TimeUnit.MILLISECONDS.sleep(50);
            }
        }
    }

    private void callAsKnown() {
        if (places.tryAcquire()) {
            try {
                String failure = call(KNOWN);
                if (attack.runs()) {
                    known.incrementAndGet();
                    judge("a known caller", failure);
                }
            } finally {
                places.release();
            }
        }
    }

    private void callAsNewcomer() {
        int number = newcomers.incrementAndGet();
        String address = "127.0." + (10 + number / ADDRESSES) + "." + (1 + number % ADDRESSES);
        long began = System.nanoTime();
        String failure = call(address);
        boolean atOnce = failure.isEmpty();
        while (!failure.isEmpty() && System.nanoTime() - began < NEWCOMERS_NANOS && attack.runs()) {
            pause();
            failure = call(address);
        }
        if (!atOnce && attack.runs()) {
            newcomersLater.incrementAndGet();
        }
        if (attack.runs()) {
            judge("a newcomer", failure);
        }
    }

    private static void pause() {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(250));
    }

    private void judge(String who, String failure) {
        if (!failure.isEmpty()) {
            failed.incrementAndGet();
            attack.fault(who + " of the attacked runtime got " + failure);
        }
    }

    /** Returns what it got instead of a 200. */
    private String call(String address) {
        String phase = "while it connected";
        try (RawHttp1 caller = RawHttp1.connect(attack.target, address, attack.host())) {
            phase = "while it waited for the response";
            List<String> head = caller
                    .lines("GET / HTTP/1.1", "Host: " + attack.host(), "Connection: close", "")
                    .head()
                    .lines()
                    .toList();
            String line = head.isEmpty() ? "nothing" : head.getFirst();
            return line.startsWith("HTTP/1.1 200")
                    ? ""
                    : line + head.stream()
                            .filter(field -> field.regionMatches(true, 0, "proxy-status", 0, 12))
                            .map(field -> ", " + field)
                            .collect(Collectors.joining());
        } catch (IOException e) {
            return e.getMessage() + " " + phase;
        }
    }

    /** Waits until the attack's time is over, and says what they got. */
    void awaitEnd() {
        attack.awaitEnd();
        attack.note("honest callers of the attacked runtime: " + known + " requests and " + newcomers
                + " newcomers, " + newcomersLater + " of them later, " + failed + " failed");
    }
}
