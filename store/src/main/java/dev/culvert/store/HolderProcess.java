package dev.culvert.store;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The process that holds a lease. On Linux, processes of the same machine and container can detect its end
 * before the lease expires.
 *
 * @param host the machine's name, for people
 * @param pid the process id
 * @param machine identifies the machine, its boot and the namespace of process ids; empty if unknown
 * @param born the start of the process in ticks since the boot, which distinguishes it from a later process
 *     with the same id
 */
record HolderProcess(String host, long pid, String machine, long born) {
    private static final Path PROC = Path.of("/proc");
    /**
     * Index of a field of {@code /proc/PID/stat} after the name, which ends with the last bracket
     * (proc_pid_stat(5)).
     */
    private static final int STATE = 0;
    private static final int START_TIME = 19;

    /** This process. Blocks: reads files and may resolve the machine's name by DNS. */
    static HolderProcess current() {
        long pid = ProcessHandle.current().pid();
        return new HolderProcess(hostName(), pid, machineOf(), bornOf(pid));
    }

    /** Whether the process is known to have ended. Blocks: reads files. */
    boolean isGone() {
        return !machine.isEmpty() && machine.equals(machineOf()) && born != bornOf(pid);
    }

    @Override
    public String toString() {
        return "host " + host + ", pid " + pid;
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown";
        }
    }

    private static String machineOf() {
        try {
            return Files.readString(PROC.resolve("sys/kernel/random/boot_id")).strip() + ' '
                    + Files.readSymbolicLink(PROC.resolve("self/ns/pid"));
        } catch (IOException | UnsupportedOperationException e) {
            return "";
        }
    }

    /** The start of a process in ticks since the boot; 0 if it does not exist or is a zombie. */
    private static long bornOf(long pid) {
        try {
            String stat = Files.readString(PROC.resolve(Long.toString(pid)).resolve("stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            return fields[STATE].equals("Z") || fields[STATE].equals("X")
                    ? 0
                    : Long.parseLong(fields[START_TIME]);
        } catch (IOException | RuntimeException e) {
            return 0;
        }
    }
}
