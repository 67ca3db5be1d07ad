package dev.culvert.image.entry;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * The image's {@code /usr/bin/culvert}. The image has no shell, so this stands in for the script: it reads
 * the argument file of the part and replaces its own process by the part's JVM, which keeps the process id
 * and gets the signals.
 */
@SuppressWarnings("restricted") // The JDK reaches execv by no other way.
public final class Entry {
    /** Linux's number of the policy for work that does not interrupt other threads when it wakes. */
    private static final int SCHED_BATCH = 3;
    private static final int FAILED = 1;

    private static final Linker LINKER = Linker.nativeLinker();

    private Entry() {}

    /** Takes the path of the file that was executed, which the kernel adds, and the arguments behind it. */
    public static void main(String[] args) throws Throwable {
        Path home = Path.of(System.getProperty("culvert.home", "/opt/culvert"));
        List<String> arguments = Arrays.asList(args).subList(1, args.length);
        PartArguments part;
        try {
            long memory = memory();
            String warning = PartArguments.warning(arguments, memory);
            if (!warning.isEmpty()) {
                System.err.println(warning);
            }
            part = PartArguments.of(home, arguments, System.getenv(), memory);
        } catch (IOException e) {
            System.err.println("culvert: the image is damaged: " + e);
            System.exit(FAILED);
            return;
        }
        if (part.batch()) {
            schedule();
        }
        execute(part.command());
        System.err.println("culvert: " + part.command().getFirst() + " can't be started");
        System.exit(FAILED);
    }

    /** The container's limit in bytes, as the JVM reads it, or the machine's memory. */
    private static long memory() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
                ? system.getTotalMemorySize()
                : Long.MAX_VALUE;
    }

    /** Asks for SCHED_BATCH. A container that forbids it goes on as it is. */
    private static void schedule() throws Throwable {
        var call = LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow("sched_setscheduler"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
                        ValueLayout.ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            int ignored = (int) call.invokeExact(0, SCHED_BATCH, arena.allocate(ValueLayout.JAVA_INT));
        }
    }

    /** Returns only if it fails. */
    private static void execute(List<String> command) throws Throwable {
        var call = LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow("execv"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment words = arena.allocate(ValueLayout.ADDRESS, command.size() + 1L);
            for (int i = 0; i < command.size(); i++) {
                words.setAtIndex(ValueLayout.ADDRESS, i, arena.allocateFrom(command.get(i)));
            }
            int ignored = (int) call.invokeExact(arena.allocateFrom(command.getFirst()), words);
        }
    }
}
