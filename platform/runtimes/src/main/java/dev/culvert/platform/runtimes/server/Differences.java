package dev.culvert.platform.runtimes.server;

import java.util.ArrayList;
import java.util.List;

/**
 * How the tunnel server's runtimes differ from the platform's.
 *
 * @param repaired the number that was sent to the server again
 * @param missing those that the server does not have, and whose credential has expired
 * @param unknown those that the platform does not have, and has not deleted
 * @param refused those that the server refuses
 * @param kept those that the server keeps although they are deleted, each with its reason
 */
public record Differences(int repaired, Group missing, Group unknown, Group refused, Group kept) {
    static final Differences NONE = new Differences(0, Group.EMPTY, Group.EMPTY, Group.EMPTY, Group.EMPTY);
    static final Differences ONE_REPAIRED = new Differences(1, Group.EMPTY, Group.EMPTY, Group.EMPTY,
            Group.EMPTY);

    /**
     * Some runtimes.
     *
     * @param names the first of them
     */
    public record Group(int count, List<String> names) {
        private static final int MAX_NAMES = 5;
        private static final Group EMPTY = new Group(0, List.of());

        public Group {
            names = List.copyOf(names);
        }

        private static Group one(String name) {
            return new Group(1, List.of(name));
        }

        private Group plus(Group other) {
            if (other.count == 0) {
                return this;
            }
            List<String> all = new ArrayList<>(names);
            all.addAll(other.names);
            return new Group(count + other.count, all.subList(0, Math.min(all.size(), MAX_NAMES)));
        }

        private void tell(List<String> lines, String what) {
            if (count > 0) {
                lines.add(count + " " + what + ": " + String.join(", ", names)
                        + (count > names.size() ? ", …" : ""));
            }
        }
    }

    static Differences missing(String name) {
        return new Differences(0, Group.one(name), Group.EMPTY, Group.EMPTY, Group.EMPTY);
    }

    static Differences unknown(String name) {
        return new Differences(0, Group.EMPTY, Group.one(name), Group.EMPTY, Group.EMPTY);
    }

    static Differences refused(String name) {
        return new Differences(0, Group.EMPTY, Group.EMPTY, Group.one(name), Group.EMPTY);
    }

    static Differences kept(String name) {
        return new Differences(0, Group.EMPTY, Group.EMPTY, Group.EMPTY, Group.one(name));
    }

    Differences plus(Differences other) {
        return new Differences(repaired + other.repaired, missing.plus(other.missing),
                unknown.plus(other.unknown), refused.plus(other.refused), kept.plus(other.kept));
    }

    /** One line for each kind that needs an operator. */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        missing.tell(lines, "runtimes are not at the tunnel server, and their tokens have expired");
        unknown.tell(lines, "runtimes of the tunnel server are unknown here");
        refused.tell(lines, "runtimes are refused by the tunnel server");
        kept.tell(lines, "deleted runtimes are still at the tunnel server");
        return lines;
    }
}
