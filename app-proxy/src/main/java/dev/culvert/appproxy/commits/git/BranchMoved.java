package dev.culvert.appproxy.commits.git;

import java.io.IOException;

/** The branch moved between two looks of one attempt: the next attempt will see where to. */
public final class BranchMoved extends IOException {
    private static final long serialVersionUID = 1L;

    BranchMoved() {
        super("the branch moved");
    }
}
