package dev.culvert.platform.directory;

import java.util.List;

/** Users of an account that rules name together. */
record Team(String id, String name, List<String> members) {
    Team {
        members = List.copyOf(members);
    }
}
