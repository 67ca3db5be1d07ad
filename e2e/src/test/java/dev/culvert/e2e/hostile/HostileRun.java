package dev.culvert.e2e.hostile;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/** A server, its tenants, and the measure of what attacks do to them. */
final class HostileRun implements AutoCloseable {
    private static final double MIB = 1 << 20;
    /** Below this nobody can tell growth from garbage. */
    private static final double UNNOTICED = 16 * MIB;
    private static final double ADMIN_MILLIS = 250;
    /** For webhooks that are under way: a busy machine may need some seconds, an attack must not last as long. */
    private static final Duration DELIVERY = Duration.ofSeconds(20);
    private static final Duration RELEASE = Duration.ofSeconds(30);
    /** Samples for a p99: enough that one slow one does not decide. */
    private static final Duration QUIET = Duration.ofSeconds(15);

    /**
     * @param factor of the findings' rates
     * @param time that each attack takes
     * @param outside whether the attackers are another process
     * @param timed whether to judge by times, too
     * @param perSecond calls of the honest tenant
     * @param waiting calls of a kind that may wait at once: few where the machine may be slow
     * @param options of the server's JVM
     */
    private record Form(double factor, Duration time, boolean outside, boolean timed, int perSecond,
            int waiting,
            List<String> options) {
        static Form of(String name) {
            return switch (name) {
                case "short" -> new Form(1, seconds(2), false, false, 20, 4, List.of("-Xmx256m",
                        "-XX:MaxDirectMemorySize=128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
                case "full" -> new Form(10, seconds(30), true, true, 50, 4096,
                        List.of("-Xmx512m", "-XX:MaxDirectMemorySize=512m", "-XX:+UseSerialGC"));
                case "random" -> new Form(10, seconds(10), true, false, 20, 16,
                        List.of("-Xmx128m", "-XX:MaxDirectMemorySize=64m", "-XX:+UseSerialGC"));
                default -> throw new IllegalArgumentException(
                        "culvert.hostile: " + name + " (expected: short, full or random)");
            };
        }

        private static Duration seconds(int usual) {
            return Duration.ofSeconds(Integer.getInteger("culvert.hostile.seconds", usual));
        }
    }

    private final Form form;
    private final HostileServer server;
    private final HonestTenant honest;
    private final Watch watch;
    private final Figures quiet;
    private final Map<String, Double> atStart;

    private HostileRun(Form form, HostileServer server) throws Exception {
        this.form = form;
        this.server = server;
        for (int i = 0; i < Target.ATTACKERS_RUNTIMES; i++) {
            server.target.createRuntime(Target.ATTACKER, "r" + i);
        }
        honest = new HonestTenant(server.target);
        watch = new Watch(server.target, honest::figures);
        honest.begin(form.perSecond, form.waiting);
        if (form.timed) {
            pause(QUIET); // what is compiled and allocated at first is no measure
        }
        awaitService();
        quiet = honest.measure();
        if (form.timed) {
            pause(QUIET);
        }
        server.collect();
        atStart = watch.now();
    }

    /** The first calls start everything: they are no measure either. */
    private void awaitService() {
        Figures figures = honest.measure();
        while (figures.requests.count() < 10 || figures.webhooks.count() < 3) {
            pause(Duration.ofMillis(50));
        }
    }

    static HostileRun start(String form, Path folder) throws Exception {
        Form chosen = Form.of(form);
        HostileServer server = HostileServer.start(folder, chosen.options);
        try {
            return new HostileRun(chosen, server);
        } catch (Exception | Error e) {
            server.close();
            throw e;
        }
    }

    /** Attacks, and prints a line of figures. Returns all that should not be. */
    List<String> attack(Scenario scenario) throws Exception {
        Figures figures = honest.measure();
        List<String> faults = new ArrayList<>();
        Runnable judge = () -> {
            honest.measure();
            Set<String> undelivered = honest.undelivered(DELIVERY);
            if (!undelivered.isEmpty()) {
                faults.add(undelivered.size() + " webhooks are not delivered while the attack goes on");
            }
        };
        faults.addAll(form.outside
                ? Attacker.attackFromOutside(server.target, scenario, form.factor, form.time, judge)
                : Attacker.attack(server.target, scenario, form.factor, form.time, judge));
        server.trouble().ifPresent(faults::add);
        judge(figures, faults);
        report(scenario, figures, faults);
        return faults;
    }

    private void judge(Figures figures, List<String> faults) throws Exception {
        faults.addAll(figures.failures());
        if (figures.peak(Watch.USED) > figures.peak(Watch.MAX)) {
            faults.add("more is held than the budget has");
        }
        if (figures.requests.count() == 0 || figures.webhooks.count() == 0 || figures.admin.count() == 0) {
            faults.add("nothing was measured");
        }
        if (form.timed) {
            slower("requests", figures.requests, quiet.requests, faults);
            slower("webhooks", figures.webhooks, quiet.webhooks, faults);
            if (figures.admin.p99() > ADMIN_MILLIS) {
                faults.add("the admin API takes more than 250 ms");
            }
        }
        if (server.trouble().isEmpty()) {
            awaitRelease(faults);
        }
    }

    private static void slower(String what, Figures.Samples now, Figures.Samples before,
            List<String> faults) {
        if (now.p99() > 2 * before.p99()) {
            faults.add(what + " take more than twice as long as before");
        }
    }

    /** The attackers have left: what was held for them must go. */
    private void awaitRelease(List<String> faults) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + RELEASE.toNanos();
        Map<String, Double> now = watch.now();
        while (held(now) > MIB && System.nanoTime() < deadline) {
            pause(Duration.ofMillis(50));
            now = watch.now();
        }
        if (held(now) > MIB) {
            faults.add("30 s later " + now + " is still held");
        }
    }

    private static double held(Map<String, Double> metrics) {
        return metrics.getOrDefault(Watch.USED, 0.0) + metrics.getOrDefault(Watch.BUFFERED, 0.0);
    }

    private void report(Scenario scenario, Figures figures, List<String> faults) {
        System.out.println(String.format(Locale.ROOT,
                "hostile %-10s %-6s p99 ms (quiet): requests %.0f (%.0f), webhooks %.0f (%.0f), admin %.0f (%.0f);"
                        + " %d requests, %d webhooks; peak MiB: budget %.1f of %.0f, buffered %.1f, heap %.0f, direct %.0f; %s",
                scenario.name(), faults.isEmpty() ? "ok" : "FAILED", figures.requests.p99(),
                quiet.requests.p99(), figures.webhooks.p99(), quiet.webhooks.p99(), figures.admin.p99(),
                quiet.admin.p99(), figures.requests.count(), figures.webhooks.count(),
                figures.peak(Watch.USED) / MIB, figures.peak(Watch.MAX) / MIB,
                figures.peak(Watch.BUFFERED) / MIB, figures.peak(Watch.HEAP) / MIB,
                figures.peak(Watch.DIRECT) / MIB, faults));
    }

    /** Attacks in random order until the time is over. Throws AssertionError unless the server survives as it was. */
    void random(List<Scenario> scenarios) throws Exception {
        long seed = Long.getLong("culvert.hostile.seed", System.nanoTime());
        Duration time = Duration.ofSeconds(Integer.getInteger("culvert.hostile.duration", 600));
        System.out.println("hostile random, -Dculvert.hostile.seed=" + seed + ", " + time);
        Random random = new Random(seed);
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() < end) {
            List<Scenario> order = new ArrayList<>(scenarios);
            Collections.shuffle(order, random);
            for (Scenario scenario : order) {
                if (System.nanoTime() < end) {
                    attackWhatMayFail(scenario);
                }
            }
        }
        List<String> faults = new ArrayList<>();
        awaitRelease(faults);
        server.collect();
        Map<String, Double> now = watch.now();
        System.out.println("hostile random: at start " + atStart + ", at the end " + now + " " + faults);
        if (!faults.isEmpty() || now.getOrDefault(Watch.HEAP, 0.0) > atStart.getOrDefault(Watch.HEAP, 0.0)
                + UNNOTICED) {
            throw new AssertionError("memory is not back: at start " + atStart + ", now " + now);
        }
    }

    /** A small server may refuse anybody under these attacks, but must live. */
    private void attackWhatMayFail(Scenario scenario) throws Exception {
        Figures figures = honest.measure();
        Attacker.attackFromOutside(server.target, scenario, form.factor, form.time, () -> {});
        List<String> trouble = server.trouble().map(List::of).orElse(List.of());
        report(scenario, figures, trouble.isEmpty() ? figures.failures() : trouble);
        if (!trouble.isEmpty()) {
            throw new AssertionError(scenario + ": " + trouble);
        }
    }

    private static void pause(Duration time) {
        LockSupport.parkNanos(time.toNanos());
    }

    @Override
    public void close() {
        watch.close();
        try {
            honest.close();
        } finally {
            server.close();
        }
    }
}
