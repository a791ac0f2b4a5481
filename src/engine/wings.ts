// The wings that an engine is composed of. The core works without any of them; `createEngine` composes all.

export const allWings = ['agents', 'board', 'commands', 'memory', 'plans', 'time'] as const
export type WingName = (typeof allWings)[number]

/**
 * Without `agents` an engine has no models, and runs only the executors that it was given; without `commands` it ends no processes that a dead
 * engine left; without `memory` tasks have no teams, and nothing is remembered; without `time` no schedule makes a task; without
 * `board` and `plans` their abilities are missing.
 */
export type Wings = ReadonlySet<WingName>
