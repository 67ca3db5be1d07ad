package dev.culvert.benchmarks.compare;

import dev.culvert.benchmarks.process.BenchException;
import dev.culvert.benchmarks.process.Scheduling;
import dev.culvert.benchmarks.target.TargetChoice;
import dev.culvert.benchmarks.target.TargetKind;
import dev.culvert.benchmarks.target.TargetKinds;
import dev.culvert.config.ConfigBinder;
import dev.culvert.config.ConfigErrors;
import dev.culvert.config.ConfigException;
import dev.culvert.config.ConfigSources;
import dev.culvert.config.Setting;
import dev.culvert.config.yaml.YamlFile;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;

/**
 * What is compared, and how: a YAML file with these keys.
 *
 * @param targets the names of the targets; empty: all whose programs are present
 * @param baseline the name of the target that ratios are to
 * @param starts how often all processes are started anew
 * @param rounds the turns of each target under each load, in each start
 * @param warmUp of each target in each start, shared by the loads
 * @param batch whether all measured programs run under SCHED_BATCH; never some of them only
 * @param loads in the order in which they are measured
 */
public record Scenario(
        @Setting(value = "Targets; left out: all whose programs are present", accepts = "a list of "
                + TargetKinds.ACCEPTS
                + ", each once", byDefault = "") List<String> targets,
        @Setting(value = "Target that ratios are to", accepts = BASELINE, byDefault = "nginx2") String baseline,
        @Setting(value = "How often all processes are started anew", accepts = "1..100", byDefault = "3") int starts,
        @Setting(value = "Turns of each target under each load, in each start", accepts = "1..1000", byDefault = "5") int rounds,
        @Setting(value = "Warm-up of each target in each start, shared by the loads, so that the code for each of them is compiled", accepts = "0s..1h", byDefault = "10s") Duration warmUp,
        @Setting(value = "Whether all measured programs, Culvert's and the others', run under chrt --batch 0", byDefault = "false") boolean batch,
        @Setting(value = "Loads, in their order", accepts = LOADS, fileOnly = true) List<ScenarioLoad> loads) {

    private static final String BASELINE = "one of the targets";
    private static final String LOADS = "a list of loads, each with name, kind, path and callers";
    private static final int MAX_STARTS = 100;
    private static final int MAX_ROUNDS = 1000;
    private static final Duration MAX_WARM_UP = Duration.ofHours(1);

    public Scenario {
        targets = List.copyOf(targets);
        loads = List.copyOf(loads);
        List<String> names = names(targets);
        require(names.size() == new HashSet<>(names).size(), "targets",
                "a list of " + TargetKinds.ACCEPTS + ", each once");
        require(names.isEmpty() || names.contains(baseline), "baseline", BASELINE);
        require(starts >= 1 && starts <= MAX_STARTS, "starts", "1.." + MAX_STARTS);
        require(rounds >= 1 && rounds <= MAX_ROUNDS, "rounds", "1.." + MAX_ROUNDS);
        require(warmUp.compareTo(MAX_WARM_UP) <= 0, "warmUp", "0s..1h");
        require(!loads.isEmpty(), "loads", LOADS);
        for (int i = 0; i < loads.size(); i++) {
            String name = loads.get(i).name();
            require(loads.subList(0, i).stream().noneMatch(load -> load.name().equals(name)),
                    "loads[" + i + "].name", "a name that no other load has");
        }
    }

    /**
     * Reads a file. Paths of scripts in it are relative to its folder, those in flags to the working folder.
     *
     * @param flags values that override the file's, by flag, such as {@code --rounds}
     * @throws BenchException that lists all mistakes, each with file, line, key, value and what is expected
     */
    public static Scenario read(Path file, Map<String, String> flags) {
        try {
            Scenario bound = ConfigBinder
                    .bind(new ConfigSources(YamlFile.read(file), Map.of(), flags, Map.of()),
                            List.of(Scenario.class))
                    .value(Scenario.class);
            Path folder = Objects.requireNonNullElse(file.toAbsolutePath().getParent(), file);
            return flags.containsKey("--targets") ? bound : bound.below(folder);
        } catch (ConfigErrors e) {
            throw BenchException.config(String.join("\n", e.errors()));
        }
    }

    /**
     * The targets whose programs are present.
     *
     * @param present whether a program is present
     * @throws BenchException if one that is listed lacks a program, or if it is the baseline
     */
    public TargetChoice choose(Predicate<String> present) {
        if (!targets.isEmpty()) {
            return TargetChoice.asked(kinds(targets), present);
        }
        TargetChoice choice = TargetChoice.available(TargetKinds.builtIn(), present);
        if (choice.kinds().stream().noneMatch(kind -> kind.name().equals(baseline))) {
            List<String> reasons = choice.skipped();
            throw BenchException.unavailable("baseline " + baseline + " is not among the targets"
                    + (reasons.isEmpty() ? "" : ": " + String.join("; ", reasons)));
        }
        return choice;
    }

    /** The policy of all measured programs. */
    public Scheduling scheduling() {
        return batch ? Scheduling.BATCH : Scheduling.NORMAL;
    }

    private Scenario below(Path folder) {
        return new Scenario(targets.stream().map(name -> TargetKinds.below(folder, name)).toList(), baseline,
                starts, rounds, warmUp, batch, loads);
    }

    private static List<String> names(List<String> targets) {
        return kinds(targets).stream().map(TargetKind::name).toList();
    }

    private static List<TargetKind> kinds(List<String> targets) {
        return targets.stream().map(Scenario::kind).toList();
    }

    private static TargetKind kind(String name) {
        TargetKind kind = TargetKinds.named(name);
        if (kind == null) {
            throw new ConfigException("targets", "a list of " + TargetKinds.ACCEPTS + ", each once");
        }
        return kind;
    }

    private static void require(boolean valid, String key, String expected) {
        if (!valid) {
            throw new ConfigException(key, expected);
        }
    }
}
