/**
 * The command line. {@link dev.culvert.launcher.Main} runs one {@code Task}. A {@code PartCommand} is a task
 * that starts a service and keeps it running. Read {@code Main}, then {@code PartCommand}.
 */
@NullMarked
package dev.culvert.launcher;

import org.jspecify.annotations.NullMarked;
