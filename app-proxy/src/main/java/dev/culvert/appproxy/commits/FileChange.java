package dev.culvert.appproxy.commits;

/** One file's part of a commit. */
sealed interface FileChange {
    FilePath path();

    Expected expected();

    /** Returns the same change with another expectation. */
    FileChange expecting(Expected other);

    /** Writes the file's content. */
    record Write(FilePath path, Expected expected, FileContent content) implements FileChange {
        @Override
        public FileChange expecting(Expected other) {
            return new Write(path, other, content);
        }
    }

    /** Deletes the file. */
    record Delete(FilePath path, Expected expected) implements FileChange {
        @Override
        public FileChange expecting(Expected other) {
            return new Delete(path, other);
        }
    }
}
