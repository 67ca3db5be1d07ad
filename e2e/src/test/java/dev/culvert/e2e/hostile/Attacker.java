package dev.culvert.e2e.hostile;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Runs one scenario, in this process or as the program of another one, so that an attacker's CPU time is not that of the
 * server's judge.
 */
final class Attacker {
    private static final String FAULT = "fault: ";
    private static final String OVER = "over";

    private Attacker() {}

    /** Looks at the server while the peers are still there. */
    interface Judge {
        void judge() throws Exception;
    }

    /**
     * Returns what it saw that should not be.
     *
     * @param judge when the time is over, before the peers leave
     */
    static List<String> attack(Target target, Scenario scenario, double factor, Duration time,
            Judge judge) throws Exception {
        try (var attack = new Attack(target, Scenarios.ALL.indexOf(scenario), time)) {
            scenario.run().attack(attack, scenario.rate() * factor);
            if (scenario.isLoad()) {
                attack.awaitEnd();
            }
            judge.judge();
            System.out.println("attacker " + scenario.name() + ": " + attack.account());
            return attack.faults();
        }
    }

    /** Attacks from a process with little right to the CPU. */
    static List<String> attackFromOutside(Target target, Scenario scenario, double factor, Duration time,
            Judge judge) throws Exception {
        Process process = new ProcessBuilder(Stream.concat(
                Stream.of("nice", "-n", "10", HostileServer.java(), "-Xmx1g", "-cp",
                        System.getProperty("java.class.path"), Attacker.class.getName(), scenario.name(),
                        Double.toString(factor), Long.toString(time.toMillis())),
                Stream.of(target.arguments())).toList()).redirectErrorStream(true).start();
        try (var output = process.inputReader()) {
            List<String> lines = new ArrayList<>();
            for (String line = output.readLine(); line != null && !line.equals(OVER); line = output
                    .readLine()) {
                lines.add(line);
            }
            System.out.printf(Locale.ROOT, "attacker %s: %.1f CPU seconds%n", scenario.name(),
                    process.info().totalCpuDuration().orElse(Duration.ZERO).toMillis() / 1000.0);
            judge.judge();
            mayLeave(process);
            output.lines().forEach(lines::add);
            int exit = process.waitFor();
            return exit == 0
                    ? lines.stream()
                            .filter(line -> line.startsWith(FAULT))
                            .map(line -> line.substring(FAULT.length()))
                            .toList()
                    : List.of("the attacker failed: " + String.join("\n", lines));
        } finally {
            process.destroyForcibly();
        }
    }

    private static void mayLeave(Process process) {
        try {
            process.outputWriter().append('\n').close();
        } catch (IOException left) {
            // it has failed, and says why
        }
    }

    /** Name, factor, milliseconds and the target's arguments. */
    public static void main(String[] arguments) throws Exception {
        attack(Target.of(Arrays.copyOfRange(arguments, 3, arguments.length)),
                Scenarios.named(arguments[0]), Double.parseDouble(arguments[1]),
                Duration.ofMillis(Long.parseLong(arguments[2])), Attacker::judged)
                .forEach(fault -> System.out.println(FAULT + fault));
        System.exit(0); // peers' threads may still wait
    }

    /** Waits, at its peers' cost, until the other process has judged. */
    private static void judged() {
        try {
            System.out.println(OVER);
            System.in.read();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
