package dev.culvert.platform.host.spi;

import dev.culvert.handlers.spi.EdgeHandlerProvider;
import java.util.List;

/**
 * A module of the platform, found by {@link java.util.ServiceLoader}: a jar on the control plane's class path
 * is served. Its life: its tables are migrated, then {@link #create}, {@link #start}, serve, {@link #stop}.
 *
 * <p>{@code create} gets from its context the services {@link Callers}, {@link Decisions}, {@link
 * RuntimeCalls}, {@link RuntimeKeys}, {@link SecretWrapping}, {@link AccountSettings}, {@link PipelineRuns},
 * {@link Store}, {@link Outbox}, {@link Turns}, {@link Events}, {@link AccountEnds}, {@link RuntimeEnds} and
 * those that other modules offer.
 */
public interface PlatformModule extends EdgeHandlerProvider {
    /** The record of its settings, {@code handlers.<name>} in control-plane.yaml. */
    default Class<? extends Record> settings() {
        return None.class;
    }

    /** Its tables, for each engine. Names of tables and indexes begin with the module's name. */
    default TableVersions tables() {
        return TableVersions.none();
    }

    /**
     * What operators should know of the module now, one line each. While there is any, {@code /readyz} says
     * {@code degraded}. Called on any thread; must not block.
     */
    default List<String> troubles() {
        return List.of();
    }

    /** The settings of a module without settings. */
    record None() {}
}
