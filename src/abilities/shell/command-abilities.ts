// The abilities with which an agent runs commands: shell:run, shell:background. An engine has them when it is given them: whoever
// does so trusts its models, and whatever they read, with the rights of the process.
import { shellBackground } from './background.ts'
import { type CommandAbilityOptions, settingsOf } from './command-settings.ts'
import { shellRun } from './run.ts'

/**
 * Abilities that run shell commands in one folder, for `createEngine({ abilities })`. The folder is where commands start, and no
 * fence: they have the rights and the environment of the engine's process. `confirm: true` puts each to a person first.
 *
 * `shell:run` waits for the end of a command; one that fails is a result. `shell:background` makes it a subtask with the executor
 * `shell` (the engine's own of that name, if it has one): it is canceled with the task that started it, and tells that task its
 * outcome once, before the next step of its model. A command in the background that a crash breaks off has failed.
 *
 * @example
 * const engine = await createEngine({ model, abilities: commandAbilities('project', { confirm: true }) })
 * @param folder relative to the working directory of the process, or absolute.
 * @throws ErrandError NOT_FOUND { folder } when there is no such folder; UNKNOWN_OPTION, INVALID_INPUT for bad options.
 */
export function commandAbilities(folder: string, options: CommandAbilityOptions = {}) {
  const settings = settingsOf(folder, options)
  return [shellRun(settings), shellBackground(settings)]
}
