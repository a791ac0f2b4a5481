// Runs a script on two runners side by side and finds where the second first differs from the first.

import { isDeepStrictEqual } from 'node:util'
import { type MachineRunner, play, type Script, type ScriptEntry, type View } from './machine-runner.ts'

/**
 * Undefined when both runs show the same after the start and each entry; otherwise a text about the first difference. `compared`: the part of a
 * view that is compared.
 */
export async function firstDifference(
  expected: MachineRunner,
  actual: MachineRunner,
  script: Script,
  compared: (view: View) => View = (view) => view,
): Promise<string | undefined> {
  try {
    for (let at = -1; at < script.length; at++) {
      const step = async (runner: MachineRunner) =>
        compared(await (at < 0 ? runner.start() : play(runner, script[at] as ScriptEntry)))
      const [wanted, got] = [await step(expected), await outcomeOf(step(actual))]
      const difference = differenceOf(wanted, got)
      if (difference !== undefined) return `${placeOf(script, at)}: ${difference}`
    }
    return undefined
  } finally {
    await expected.end()
    await actual.end()
  }
}

/** The runner that is compared may fail where the other does not: that is a difference with a place, and not the end of the comparison. */
async function outcomeOf(step: Promise<View>): Promise<View | { threw: string }> {
  try {
    return await step
  } catch (error) {
    return { threw: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

function differenceOf(expected: View, actual: View | { threw: string }): string | undefined {
  if ('threw' in actual) return `the runner threw ${actual.threw}\n  expected ${JSON.stringify(expected)}`
  const path = firstPath(expected, actual)
  if (path === undefined) return undefined
  return [
    `${path.join('.')} is ${textAt(actual, path)}, expected ${textAt(expected, path)}`,
    `  expected ${JSON.stringify(expected)}`,
    `  actual   ${JSON.stringify(actual)}`,
  ].join('\n')
}

const placeOf = (script: Script, at: number) =>
  at < 0 ? 'after the start' : `after entry ${at + 1} of ${script.length}, ${JSON.stringify(script[at])}`

/** The innermost place at which two JSON values differ first. */
function firstPath(expected: unknown, actual: unknown): string[] | undefined {
  if (isDeepStrictEqual(expected, actual)) return undefined
  if (!isObject(expected) || !isObject(actual) || Array.isArray(expected) !== Array.isArray(actual)) return []
  for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    const path = firstPath(expected[key], actual[key])
    if (path !== undefined) return [key, ...path]
  }
  return []
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

function textAt(value: unknown, path: readonly string[]): string {
  const found = path.reduce<unknown>((each, key) => (isObject(each) ? each[key] : undefined), value)
  return found === undefined ? 'missing' : JSON.stringify(found)
}
