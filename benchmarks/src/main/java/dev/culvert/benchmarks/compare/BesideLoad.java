package dev.culvert.benchmarks.compare;

import dev.culvert.benchmarks.load.Kind;
import dev.culvert.benchmarks.load.LoadPlan;
import dev.culvert.benchmarks.target.Target;
import dev.culvert.config.ByteSize;
import dev.culvert.config.ConfigException;
import dev.culvert.config.Setting;
import java.time.Duration;

/**
 * A closed loop that burdens a target while a {@link ScenarioLoad} is measured. Its own figures are no
 * result.
 *
 * @param kind what an exchange is
 * @param path of the resource, as the upstream knows it
 * @param callers the exchanges under way at once
 * @param bytes of a request's body or of a WebSocket's message; 0 for the other kinds
 */
public record BesideLoad(
        @Setting(value = "What an exchange is; stalled: a GET whose response is not read") Kind kind,
        @Setting(value = "Path of the resource at the upstream", accepts = "a path as /f") String path,
        @Setting(value = "Exchanges under way at once", accepts = "1..1000") int callers,
        @Setting(value = "Size of the body or message that callers send", byDefault = "0", accepts = ScenarioLoad.BYTES) ByteSize bytes) {

    public BesideLoad {
        ScenarioLoad.requireValid(kind, path, bytes);
        if (callers < 1 || callers > ScenarioLoad.MAX_CALLERS) {
            throw new ConfigException("callers", "1..1000");
        }
    }

    LoadPlan plan(Target target, Duration warmUp, Duration time) {
        return new LoadPlan(target.url(path), target.host(), kind, false, (int) bytes.bytes(), callers, 0,
                warmUp, time);
    }
}
