package dev.culvert.e2e.hostile;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How hard, how long and how a run attacks, and what it judges.
 *
 * @param factor of the findings' rates
 * @param time that each attack takes
 * @param outside whether the attackers are another process
 * @param timed whether to judge by times, too
 * @param deedsAtOnce scenarios at once that are no load
 * @param loadsAtOnce scenarios at once that are a load
 * @param perSecond calls of the honest tenant
 * @param waiting calls of a kind that may wait at once: few where the machine may be slow
 * @param options of the server's JVM
 */
record Form(double factor, Duration time, boolean outside, boolean timed, int deedsAtOnce,
        int loadsAtOnce, int perSecond, int waiting, List<String> options) {
    /** The options with which the launcher script starts a server. */
    private static final List<String> LAUNCHED = List.of("-XX:+UseG1GC", "-XX:G1ReservePercent=25",
            "-XX:InitiatingHeapOccupancyPercent=70", "-XX:GCTimeRatio=24", "-Xms64m",
            "-XX:+UseCompactObjectHeaders", "-XX:TrimNativeHeapInterval=10000");

    static Form of(String name) {
        return switch (name) {
            case "short" -> new Form(1, seconds(2), false, false, 100, 5, 20, 4, List.of("-Xmx256m",
                    "-XX:MaxDirectMemorySize=128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
            case "full" -> new Form(10, seconds(30), true, true, 1, 1, 50, 4096,
                    launched(memory("-Xmx"), memory("-XX:MaxDirectMemorySize=")));
            case "random" -> new Form(10, seconds(10), true, false, 1, 1, 20, 16,
                    launched("-Xmx128m", "-XX:MaxDirectMemorySize=64m"));
            default -> throw new IllegalArgumentException(
                    "culvert.hostile: " + name + " (expected: short, full or random)");
        };
    }

    private static List<String> launched(String... sizes) {
        return Stream.concat(LAUNCHED.stream(), Stream.of(sizes)).toList();
    }

    private static String memory(String option) {
        return option + System.getProperty("culvert.hostile.memory", "512m");
    }

    private static Duration seconds(int usual) {
        return Duration.ofSeconds(Integer.getInteger("culvert.hostile.seconds", usual));
    }

    /** What attacks at once: several scenarios where it is not measured how long others wait. */
    List<List<Scenario>> waves(List<Scenario> scenarios) {
        List<List<Scenario>> waves = new ArrayList<>();
        for (boolean loads : new boolean[]{false, true}) {
            List<Scenario> alike = scenarios.stream().filter(one -> one.isLoad() == loads).toList();
            int atOnce = loads ? loadsAtOnce : deedsAtOnce;
            for (int i = 0; i < alike.size(); i += atOnce) {
                waves.add(alike.subList(i, Math.min(i + atOnce, alike.size())));
            }
        }
        return waves;
    }

    /** The names of scenarios that attack at once. */
    static String names(List<Scenario> wave) {
        return wave.stream().map(Scenario::name).collect(Collectors.joining(", "));
    }
}
