package dev.culvert.e2e.hostile;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A server, its tenants, and the measure of what attacks do to them. */
final class HostileRun implements AutoCloseable {
    private static final double MIB = 1 << 20;
    /** Below this nobody can tell growth from garbage. */
    private static final double UNNOTICED = 16 * MIB;
    private static final long UNNOTICED_DESCRIPTORS = 64;
    /** For webhooks that are under way: a busy machine may need some seconds, an attack must not last as long. */
    private static final Duration DELIVERY = Duration.ofSeconds(20);
    private static final Duration RELEASE = Duration.ofSeconds(30);
    /** Samples for a p99: enough that one slow one does not decide. */
    private static final Duration QUIET = Duration.ofSeconds(15);

    private final Form form;
    private final HostileServer server;
    private final HonestTenant honest;
    private final Watch watch;
    private final Figures quiet;
    private final Map<String, Double> atStart;
    private final long descriptors;

    private HostileRun(Form form, HostileServer server) throws Exception {
        this.form = form;
        this.server = server;
        honest = new HonestTenant(server.target);
        watch = new Watch(server.target, honest::figures);
        if (form.timed()) {
            honest.warm();
        }
        honest.begin(form.perSecond(), form.waiting());
        if (form.timed()) {
            pause(QUIET); // what is compiled and allocated at first is no measure
        }
        awaitService();
        quiet = honest.measure();
        if (form.timed()) {
            pause(QUIET);
        }
        server.collect();
        atStart = watch.now();
        atStart.put(Watch.LIVE, atStart.getOrDefault(Watch.HEAP, 0.0));
        descriptors = server.descriptors();
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
        HostileServer server = HostileServer.start(folder, chosen.options());
        try {
            return new HostileRun(chosen, server);
        } catch (Exception | Error e) {
            server.close();
            throw e;
        }
    }

    /** Attacks with all scenarios of a wave at once, and prints a line of figures. Returns all that should not be. */
    List<String> attack(List<Scenario> wave) throws Exception {
        Figures figures = honest.measure();
        Duration cpuBefore = server.cpuTime();
        long began = System.nanoTime();
        Queue<String> faults = new ConcurrentLinkedQueue<>();
        var over = new CountDownLatch(wave.size());
        var judged = new CountDownLatch(1);
        List<Thread> attackers = new ArrayList<>();
        for (Scenario scenario : wave) {
            attackers.add(Thread.ofPlatform().start(() -> {
                try {
                    run(scenario, () -> {
                        over.countDown();
                        judged.await();
                    }).forEach(fault -> faults.add(scenario.name() + ": " + fault));
                } catch (Exception e) {
                    faults.add(scenario.name() + ": " + e);
                    over.countDown();
                }
            }));
        }
        boolean loads = wave.getFirst().isLoad();
        if (form.timed() && loads && !over.await(form.time().toMillis() / 2, TimeUnit.MILLISECONDS)) {
            collect(figures);
        }
        over.await();
        honest.measure();
        figures.cores(server.cpuTime().minus(cpuBefore).toNanos() / (double) (System.nanoTime() - began));
        try {
            judgeWhileItGoesOn(figures, faults);
        } finally {
            judged.countDown();
        }
        for (Thread attacker : attackers) {
            attacker.join();
        }
        server.trouble().ifPresent(faults::add);
        judge(figures, loads, faults);
        report(wave, figures, List.copyOf(faults));
        return List.copyOf(faults);
    }

    private List<String> run(Scenario scenario, Attacker.Judge judge) throws Exception {
        return form.outside()
                ? Attacker.attackFromOutside(server.target, scenario, form.factor(), form.time(), judge)
                : Attacker.attack(server.target, scenario, form.factor(), form.time(), judge);
    }

    private void judgeWhileItGoesOn(Figures figures, Queue<String> faults) throws Exception {
        Set<String> undelivered = honest.undelivered(DELIVERY);
        if (!undelivered.isEmpty()) {
            faults.add(undelivered.size() + " webhooks are not delivered while the attack goes on");
        }
        if (form.timed() && server.trouble().isEmpty()) {
            collect(figures);
        }
    }

    /** Collects garbage, and notes what stays. The pause is the judge's doing. */
    private void collect(Figures figures) throws IOException, InterruptedException {
        long began = System.nanoTime();
        server.collect();
        figures.peak(Map.of(Watch.LIVE, watch.now().getOrDefault(Watch.HEAP, Double.MAX_VALUE)));
        figures.disturbed(began);
    }

    private void judge(Figures figures, boolean loads, Queue<String> faults) throws Exception {
        faults.addAll(figures.failures());
        if (figures.peak(Watch.USED) > figures.peak(Watch.MAX)) {
            faults.add("more is held than the budget has");
        }
        if (loads) {
            if (figures.requests.count() == 0 || figures.webhooks.count() == 0
                    || figures.admin.count() == 0) {
                faults.add("nothing was measured");
            }
            faults.addAll(MemoryVerdict.of(form.timed()
                    ? List.of(Watch.DIRECT, Watch.LIVE)
                    : List.of(Watch.DIRECT), atStart, figures.peaks()));
        }
        if (server.trouble().isEmpty()) {
            awaitRelease(faults);
        }
    }

    /** The attackers have left: what was held for them must go. */
    private void awaitRelease(Collection<String> faults) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + RELEASE.toNanos();
        Map<String, Double> now = watch.now();
        while (held(now) > MIB && System.nanoTime() < deadline) {
            pause(Duration.ofMillis(50));
            now = watch.now();
        }
        if (held(now) > MIB) {
            faults.add("30 s later " + now + " is still held");
        }
        if (form.timed()) {
            List<String> kept = kept();
            while (!kept.isEmpty() && System.nanoTime() < deadline) {
                pause(Duration.ofSeconds(1));
                kept = kept();
            }
            faults.addAll(kept);
        }
    }

    /** What the server holds above its start, after a collection. */
    private List<String> kept() throws IOException, InterruptedException {
        server.collect();
        Map<String, Double> now = watch.now();
        now.put(Watch.LIVE, now.getOrDefault(Watch.HEAP, 0.0));
        List<String> kept = new ArrayList<>();
        for (String kind : List.of(Watch.DIRECT, Watch.LIVE, Watch.USED)) {
            double more = now.getOrDefault(kind, 0.0) - atStart.getOrDefault(kind, 0.0);
            if (more > UNNOTICED) {
                kept.add(String.format(Locale.ROOT, "30 s later %s is %.0f MiB above its start", kind,
                        more / MIB));
            }
        }
        long open = server.descriptors();
        if (open > descriptors + UNNOTICED_DESCRIPTORS) {
            kept.add("30 s later " + open + " descriptors are open, " + descriptors + " at the start");
        }
        return kept;
    }

    private static double held(Map<String, Double> metrics) {
        return metrics.getOrDefault(Watch.USED, 0.0) + metrics.getOrDefault(Watch.BUFFERED, 0.0);
    }

    private void report(List<Scenario> wave, Figures figures, List<String> faults) {
        System.out.println(String.format(Locale.ROOT,
                "hostile %-10s %-6s p99 ms (quiet): requests %.0f (%.0f), webhooks %.0f (%.0f), poisoned line %.0f, admin %.0f (%.0f);"
                        + " %d requests, %d webhooks; server %.2f cores; peak MiB: budget %.1f of %.0f, buffered %.1f, heap %.0f, live %.0f, direct %.0f; %s",
                Form.names(wave), faults.isEmpty() ? "ok" : "FAILED", figures.requests.p99(),
                quiet.requests.p99(), figures.webhooks.p99(), quiet.webhooks.p99(),
                figures.poisonedLine.p99(), figures.admin.p99(),
                quiet.admin.p99(), figures.requests.count(), figures.webhooks.count(), figures.cores(),
                figures.peak(Watch.USED) / MIB, figures.peak(Watch.MAX) / MIB,
                figures.peak(Watch.BUFFERED) / MIB, figures.peak(Watch.HEAP) / MIB,
                figures.peak(Watch.LIVE) / MIB,
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
        List<String> reports = Attacker.attackFromOutside(server.target, scenario, form.factor(), form.time(),
                () -> {});
        if (!reports.isEmpty()) {
            System.out.println("hostile random: the attacker reports " + reports);
        }
        List<String> trouble = server.trouble().map(List::of).orElse(List.of());
        report(List.of(scenario), figures, trouble.isEmpty() ? figures.failures() : trouble);
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
