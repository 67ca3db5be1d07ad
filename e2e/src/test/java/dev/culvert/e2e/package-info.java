/**
 * Tests that start several parts, and the rules of the architecture. {@code Platform} is a server with what its tests
 * need, {@code ClientProcess} a client that can be killed; {@code FaultProxy} a
 * network with faults; {@code ArchitectureTest} lists what each package may import.
 */
@NullMarked
package dev.culvert.e2e;

import org.jspecify.annotations.NullMarked;
