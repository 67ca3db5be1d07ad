package dev.culvert.launcher;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;

/**
 * Sets Netty's limit of direct memory below the JVM's. At Netty's limit an allocation fails at once and ends
 * its connection. At the JVM's limit the event loop first sleeps for half a second, waiting for a garbage
 * collection.
 */
final class DirectMemoryLimit {
    static final String PROPERTY = "io.netty.maxDirectMemory";
    /** The direct memory for other uses of the JVM is a sixteenth, within these bounds. */
    private static final long MIN_APART = 2 << 20;
    private static final long MAX_APART = 64 << 20;

    private DirectMemoryLimit() {}

    /** Sets the limit unless the operator has. Called before the first use of Netty. */
    static void set() {
        if (System.getProperty(PROPERTY) == null) {
            System.setProperty(PROPERTY, Long.toString(below(ofJvm())));
        }
    }

    /** Netty's limit for a JVM limit of {@code max}. */
    static long below(long max) {
        return Math.max(max - Math.clamp(max / 16, MIN_APART, MAX_APART), max / 2);
    }

    /** The JVM's limit: {@code -XX:MaxDirectMemorySize}, else the heap size. */
    static long ofJvm() {
        var jvm = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        long given = jvm == null ? 0 : Long.parseLong(jvm.getVMOption("MaxDirectMemorySize").getValue());
        return given == 0 ? Runtime.getRuntime().maxMemory() : given;
    }
}
