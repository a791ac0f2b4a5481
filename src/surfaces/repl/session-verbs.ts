// The commands of the session: calling any ability, and which changes are printed.
import { inspect } from 'node:util'
import type { Ability } from '../../bus/ability.ts'
import { didYouMean } from '../../core/did-you-mean.ts'
import { ErrandError, nearestName } from '../../core/errors.ts'
import { parseJson } from '../../core/json-text.ts'
import { messageOf } from '../../core/stored-error.ts'
import { misuse } from '../terminal/arguments.ts'
import { firstLine } from '../terminal/terminal-text.ts'
import { takeWord } from './read-line.ts'
import type { ReplVerbs, Session } from './session.ts'

export const sessionVerbs: ReplVerbs = {
  call: {
    usage: 'call ABILITY [JSON]',
    summary: 'call an ability with an input',
    complete: async ({ engine }, typed) =>
      /\s/.test(typed.trimStart()) ? [] : engine.bus.abilities().map(({ id }) => id),
    async run(session, rest, signal) {
      const { word: abilityId, rest: json } = takeWord(rest) ?? { word: '', rest: '' }
      const ability = findAbility(session, abilityId)
      const input = json === '' ? {} : readInput(json)
      const show = (value: unknown) => session.printer.line(session.shown(value))
      if (!ability.isStream) show(await session.call(ability.id, input, signal))
      else for await (const chunk of session.stream(ability.id, input, signal)) show(chunk)
    },
  },
  abilities: {
    usage: 'abilities [WORD]',
    summary: 'list all abilities, or those with WORD in their id or description; or describe one',
    complete: async ({ engine }) => engine.bus.abilities().map(({ id }) => id),
    async run({ engine, printer }, rest) {
      const one = engine.bus.get(rest)
      if (one !== undefined) {
        printer.lines([`${one.id}: ${one.description}`, inspect(one.inputSchema, { depth: 6 })])
        return
      }
      const word = rest.toLowerCase()
      const found = engine.bus
        .abilities()
        .filter(({ id, description }) => `${id} ${description}`.toLowerCase().includes(word))
      printer.lines(
        found.length === 0
          ? [`no ability matches "${rest}"`]
          : found.map(({ id, description }) => `${id}  ${firstLine(description)}`),
      )
    },
  },
  quiet: {
    usage: 'quiet',
    summary: 'do not print changes of tasks',
    async run(session) {
      session.loudness = 'quiet'
    },
  },
  loud: {
    usage: 'loud [all]',
    summary: 'print changes of the tasks of this session and all questions, or changes of all tasks',
    complete: async () => ['all'],
    async run(session, rest) {
      if (rest !== '' && rest !== 'all') throw misuse(`/loud takes only "all", got "${rest}".`)
      session.loudness = rest === 'all' ? 'all' : 'own'
    },
  },
}

function findAbility({ engine }: Session, abilityId: string): Ability {
  const ability = engine.bus.get(abilityId)
  if (ability !== undefined) return ability
  if (abilityId === '') throw misuse('The ability is missing. Usage: /call ABILITY [JSON]; /abilities lists them.')
  const known = engine.bus.abilities().map(({ id }) => id)
  throw new ErrandError(
    'NOT_FOUND',
    `There is no ability ${abilityId}.${didYouMean(nearestName(abilityId, known))} /abilities lists them.`,
    { abilityId },
  )
}

function readInput(json: string): unknown {
  try {
    return parseJson(json)
  } catch (error) {
    throw misuse(`The input of an ability is JSON, like {"taskId": "task-…"}: ${messageOf(error)}.`)
  }
}
