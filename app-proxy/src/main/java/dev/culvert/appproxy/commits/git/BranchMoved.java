package dev.culvert.appproxy.commits.git;

import java.io.IOException;

/** The branch moved between two reads of one attempt. The next attempt reads the new tip. */
public final class BranchMoved extends IOException {
    private static final long serialVersionUID = 1L;

    BranchMoved() {
        super("the branch moved");
    }
}
