package dev.culvert.appproxy.commits;

/** One file's part of a commit. */
sealed interface FileChange {
    FilePath path();

    Expected expected();

    /** The same change of a file that is expected to be something else. */
    FileChange expecting(Expected other);

    /** The file holds this from now on. */
    record Write(FilePath path, Expected expected, FileContent content) implements FileChange {
        @Override
        public FileChange expecting(Expected other) {
            return new Write(path, other, content);
        }
    }

    /** The file is no more. */
    record Delete(FilePath path, Expected expected) implements FileChange {
        @Override
        public FileChange expecting(Expected other) {
            return new Delete(path, other);
        }
    }
}
