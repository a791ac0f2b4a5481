// The rules of the house. Each is a pure function from source files to complaints, which the test applies to src and to planted violations.

import { libraryEntries } from '../../scripts/entries.ts'
import { feedHasOneFollower, readingLoopsGiveWay } from './following.ts'
import { nestedRepetition } from './repetition.ts'
import { packageOf, type SourceFile, targetOf } from './source.ts'
import { cutsOfTexts } from './text-cuts.ts'

export type Rule = (files: SourceFile[]) => string[]

// --- Imports between folders ---------------------------------------------------------------------------------------------

/** From the lowest level to the highest. A part is a folder of src, or a file directly in src, by its name. */
const levels: string[][] = [
  ['core'],
  ['entities'],
  ['machines', 'bus'],
  ['ledger'],
  ['operations'],
  ['actors'],
  ['agents', 'commands', 'memory', 'board', 'plans', 'time', 'otel', 'webhooks', 'user-machines'],
  ['engine'],
  ['surfaces', 'compat'],
  ['index'],
]

/** Which wing may import the index of which other. */
const wingsOf: Record<string, string[]> = { plans: ['commands'], commands: ['agents'] }

/** The engine as programs see it. Whatever receives an engine may name its type, although the engine is above it. */
const engineInterface = 'src/engine/engine-api.ts'

/** Surfaces create engines and vocabularies wrap them, as programs do. */
const mayUseTheIndex = ['surfaces', 'compat']

const partOf = (path: string) => path.split('/')[1]?.replace(/\.ts$/, '') ?? path
const levelOf = (part: string) => levels.findIndex((level) => level.includes(part))
const isRootFile = (path: string) => path.split('/').length === 2

function mayImport(from: string, to: string): boolean {
  const [here, there] = [partOf(from), partOf(to)]
  if (here === there) return true
  if (there === 'testing') return false
  if (here === 'testing') return there !== 'surfaces'
  if (mayUseTheIndex.includes(here) && there === 'index') return true
  if (levelOf(here) === levelOf(there)) return to === `src/${there}/index.ts` && wingsOf[here]?.includes(there) === true
  return levelOf(there) < levelOf(here)
}

const maxRootFiles = 1

const rootIsShort: Rule = (files) => {
  const inRoot = files.filter((file) => file.path.startsWith('src/') && isRootFile(file.path))
  return inRoot.length <= maxRootFiles
    ? []
    : [`src has ${inRoot.length} files of its own; ${maxRootFiles} is the limit: ${pathsOf(inRoot)}`]
}

const surfaceOf = (path: string) => /^src\/surfaces\/([^/]+)\//.exec(path)?.[1]

/** What the surfaces over HTTP, and those at a terminal, have in common. */
const sharedBySurfaces = ['web', 'terminal']

/** A verb of the command line may start another surface through its public entry. */
function startsSurface(from: string, to: string): boolean {
  return from.startsWith('src/surfaces/cli/verbs/') && /^src\/surfaces\/[^/]+\/index\.ts$/.test(to)
}

const surfacesImportNoOther: Rule = (files) =>
  files.flatMap((file) => {
    const surface = surfaceOf(file.path)
    return targetsOf(file)
      .filter(
        (target) => surface !== undefined && ![surface, undefined, ...sharedBySurfaces].includes(surfaceOf(target)),
      )
      .filter((target) => !startsSurface(file.path, target))
      .map(
        (target) =>
          `${file.path} imports ${target}; code that surfaces share belongs in surfaces/web/, surfaces/terminal/ or plans/`,
      )
  })

const everyPartHasALevel: Rule = (files) =>
  files
    .filter((file) => partOf(file.path) !== 'testing' && levelOf(partOf(file.path)) === -1)
    .map((file) => `${file.path}: "${partOf(file.path)}" is on no level; give it one in test/house/rules.ts`)

const importsPointDown: Rule = (files) =>
  files.flatMap((file) =>
    targetsOf(file)
      .filter((target) => !target.startsWith('src/') || !mayImport(file.path, target))
      .filter((target) => target !== engineInterface || !importsOnlyTypes(file, target))
      .map((target) => `${file.path} imports ${target}, which is not below it`),
  )

const importsOnlyTypes = (file: SourceFile, target: string): boolean =>
  typeImportsOf(file).some((specifier) => targetOf(file, specifier) === target)

function targetsOf(file: SourceFile): string[] {
  return file.imports.map((specifier) => targetOf(file, specifier)).filter((target) => target !== undefined)
}

const insideTheEngine = /^src\/(?:operations\/(?:steps|drafts)|ledger|actors|memory|board)\//

/** Code that finds and opens a ledger for `createEngine`, that handles whole ledgers, that is also exported to programs, or that is pure. */
const openToSurfaces = [
  'src/ledger/check/check-ledger.ts',
  'src/ledger/copy/copy-ledger.ts',
  'src/ledger/find-ledger.ts',
  'src/ledger/open-ledger.ts',
  'src/ledger/trust.ts',
  'src/board/board-session.ts',
  'src/board/list-text.ts',
  'src/board/mirror/',
]

/** Results of operations, of which only types may be imported. */
const shownBySurfaces = /^src\/(?:memory|board)\/|^src\/actors\/inspection-event\.ts$/

const surfacesUseOperations: Rule = (files) =>
  files
    .filter((file) => /^src\/(?:surfaces|plans(?!\/operations))\//.test(file.path))
    .flatMap((file) => {
      const types = typeImportsOf(file)
      return file.imports
        .map((specifier) => ({ target: targetOf(file, specifier) ?? '', isType: types.includes(specifier) }))
        .filter(({ target }) => insideTheEngine.test(target))
        .filter(({ target }) => !openToSurfaces.some((open) => target.startsWith(open)))
        .filter(({ target, isType }) => !isType || !shownBySurfaces.test(target))
        .map(
          ({ target }) => `${file.path} imports ${target}; surfaces reach tasks through the engine and its abilities`,
        )
    })

/** Specifiers from which only types are imported. */
function typeImportsOf(file: SourceFile): string[] {
  const types = Array.from(
    file.text.matchAll(/\b(?:import|export)\s+type\s*\{[^}]*\}\s*from\s*'([^']+)'/g),
    ([, specifier = '']) => specifier,
  )
  const count = (specifiers: string[], wanted: string) => specifiers.filter((each) => each === wanted).length
  return types.filter((specifier) => count(file.imports, specifier) === count(types, specifier))
}

// --- Imports of packages --------------------------------------------------------------------------------------

const driverHome = 'src/ledger/sqlite/'

/** Any literal that names the driver counts: it may also be loaded through `createRequire` or a dynamic import. */
const oneFileImportsTheDriver: Rule = (files) => {
  const importing = files.filter((file) => file.literals.some((literal) => packageOf(literal) === 'better-sqlite3'))
  const outside = importing.filter((file) => !file.path.startsWith(driverHome))
  const complaints = outside.map((file) => `${file.path} names better-sqlite3 outside ${driverHome}`)
  if (importing.length > 1) complaints.push(`better-sqlite3 is named in more than one file: ${pathsOf(importing)}`)
  return complaints
}

const commandLine = 'src/surfaces/cli/'
const definedVerb = /^(?:export )?(?:const|let) (\w+)(?:: [^=\n]*\bVerb\b[^=\n]*=|\s*=\s*defineVerb\b)/gm

/** The verbs below a verb (`board claim`) are grouped in the folder of its name. */
const verbsAreInTheirFiles: Rule = (files) => {
  const paths = new Set(files.map(({ path }) => path))
  const isFolderOfVerb = (path: string): boolean => {
    const folder = /^src\/surfaces\/cli\/verbs\/[^/]+(?=\/[^/]+$)/.exec(path)
    return folder !== null && paths.has(`${folder[0]}.ts`)
  }
  return files
    .filter(({ path }) => path.startsWith(commandLine) && !isFolderOfVerb(path))
    .flatMap(({ path, text }) => Array.from(text.matchAll(definedVerb), ([, verb]) => ({ path, verb })))
    .filter(({ path, verb }) => path !== `${commandLine}verbs/${verb}.ts`)
    .map(({ path, verb }) => `${path} defines the verb ${verb}, which belongs in ${commandLine}verbs/${verb}.ts`)
}

/** They read who is in a group, and the records of trusted ledgers, and no ledger. */
const readNoLedger = ['src/ledger/trust.ts', 'src/ledger/trust-record.ts']

/** Closing a descriptor drops SQLite's locks on the file. Creating a new file opens no ledger, and nor does its folder. */
const sqliteOpensLedgerFiles: Rule = (files) =>
  files
    .filter((file) => file.path.startsWith('src/ledger/') && !readNoLedger.includes(file.path))
    .flatMap((file) =>
      Array.from(
        file.text.matchAll(
          /\bopenSync\b(?!\s*(?:,|\}|\(dirname\(|\([^()]*(?:\([^()]*\))?[^()]*,\s*'wx'))|\b(?:read|write|append|copy)File(?:Sync)?\b|\bcreate(?:Read|Write)Stream\b|\bcpSync\b|'node:fs\/promises'/g,
        ),
        (match) => `${file.path}:${lineOf(file, match.index)} uses ${match[0]}; a ledger file is opened by SQLite only`,
      ),
    )

const pathsOf = (files: SourceFile[]) => files.map((file) => file.path).join(', ')

/** The entry that takes machines of users, whose types it names. */
const takesMachines = 'dist/machine.d.ts'

/** For built declarations: the types that users reach from the entries must not need the packages that the engine is built on. */
export const publicTypesAreOurOwn: Rule = (files) => {
  const hidden = ['xstate', '@xstate/store', 'kysely', 'better-sqlite3']
  const named = (file: SourceFile) => [
    ...file.imports,
    ...Array.from(file.text.matchAll(/\/\/\/\s*<reference types="([^"]+)"/g), (match) => match[1] ?? ''),
  ]
  const entries = Object.keys(libraryEntries).map((name) => `dist/${name}.d.ts`)
  return reachableFrom(files, entries).flatMap((file) =>
    named(file)
      .filter((specifier) => hidden.includes(packageOf(specifier)))
      .filter((specifier) => file.path !== takesMachines || specifier !== 'xstate')
      .map((specifier) => `${file.path} is reachable from the public types and imports ${specifier}`),
  )
}

/** The files that the entries import, directly or indirectly. */
export function reachableFrom(files: SourceFile[], entries: string[]): SourceFile[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const reached = new Set<SourceFile>()
  const visit = (path: string): void => {
    const file = byPath.get(path)
    if (file === undefined || reached.has(file)) return
    reached.add(file)
    for (const target of targetsOf(file)) visit(target.replace(/(?:\.d)?\.[jt]s$/, '.d.ts'))
  }
  for (const entry of entries) visit(entry)
  return [...reached]
}

// --- Input is neither SQL nor a regular expression ----------------------------------------------------------

/** Expressions that are no literals, but whose values come from the code alone: lists of states, and names of tables and columns. */
const constantsOfTheCode: Record<string, string[]> = {
  'src/ledger/table-mapping.ts': [
    'chosen.map(({ field }) => `"${alias}"."${columnOf(field)}" as "${prefix}${field}"`).join(\', \')',
    '`excluded.${column}`',
  ],
  'src/ledger/check/journal.ts': ['status'],
  'src/ledger/tables/board/board.ts': ['`edge.${side}`', '`edge.${other}`', 'order'],
  'src/ledger/tables/call.ts': ['status'],
  'src/ledger/tables/cascade.ts': ['status'],
  'src/ledger/tables/run.ts': ['status'],
  'src/ledger/tables/purge.ts': ['status', 'table', 'key', 'whose'],
  'src/ledger/tables/task-claimable.ts': ['column'],
  'src/ledger/tables/task-ready.ts': ['column'],
}

/** The tag `sql` binds its values; these methods do not. Migrations have no input. */
const sqlIsOfTheCode: Rule = (files) =>
  files
    .filter((file) => file.path.startsWith('src/') && !file.path.startsWith('src/ledger/migrations/'))
    .flatMap((file) =>
      Array.from(file.code.matchAll(/\bsql\s*\.\s*(?:raw|ref|table|id|lit)\s*\(/g), (match) => {
        const start = match.index + match[0].length
        const end = start + lengthOfArguments(file.code.slice(start))
        return {
          index: match.index,
          text: file.text.slice(start, end).trim(),
          code: file.code.slice(start, end).trim(),
        }
      })
        .filter(({ text, code }) => !isLiteral(code) && !constantsOfTheCode[file.path]?.includes(text))
        .map(({ index, text }) => `${file.path}:${lineOf(file, index)} builds SQL from ${text}; bind it as a value`),
    )

function lengthOfArguments(code: string): number {
  let depth = 1
  for (let at = 0; at < code.length; at++) {
    if (code[at] === '(') depth++
    if (code[at] === ')') depth--
    if (depth === 0) return at
  }
  return code.length
}

/** Whether code, with the insides of literals blanked out, is one literal or a choice of two. */
function isLiteral(code: string): boolean {
  return /^(['"`])\s*\1,?$/.test(code) || /^[^?]+\?\s*(['"`])\s*\1\s*:\s*(['"`])\s*\2$/.test(code)
}

/** Files that build patterns from their own words. */
const buildsPatterns = [
  'src/entities/ability-pattern.ts',
  'src/entities/disagreement.ts',
  'src/entities/fact-category.ts',
  'src/entities/fact-tokens.ts',
  // From the secrets that its options name.
  'src/surfaces/inspector/redact.ts',
  // Scripts of models are written by the user that starts the engine.
  'src/agents/models/script.ts',
]

const patternsAreOfTheCode: Rule = (files) =>
  files
    .filter((file) => !buildsPatterns.includes(file.path))
    .flatMap((file) =>
      Array.from(file.code.matchAll(/\bRegExp\s*\(/g), ({ index }) => {
        return `${file.path}:${lineOf(file, index)} builds a regular expression from a text, which could be input`
      }),
    )

const patternsAreLinear: Rule = (files) =>
  files.flatMap((file) =>
    file.patterns.flatMap((pattern) => {
      const nested = nestedRepetition(pattern)
      return nested === undefined ? [] : [`${file.path} repeats ${nested}, which contains a repetition, in ${pattern}`]
    }),
  )

// --- Time and randomness are injected ----------------------------------------------------------------------------

interface Ban {
  what: RegExp
  except: string[]
}

const ownsTime = ['src/core/clock.ts', 'src/core/ids.ts', 'src/surfaces/cli/', 'src/surfaces/terminal/']

const bans: Ban[] = [
  { what: /\bDate\s*\.\s*now\b/g, except: ownsTime },
  { what: /\bnew\s+Date\b(?!\s*\(\s*[^\s)])/g, except: ownsTime },
  { what: /(?<!\bnew\s+|[.\w$])Date\s*\(/g, except: ownsTime },
  { what: /\bperformance\s*\.\s*now\b|\bprocess\s*\.\s*hrtime\b/g, except: ownsTime },
  { what: /(?<![.\w$])(?:globalThis\s*\.\s*)?set(?:Timeout|Interval)\b/g, except: ownsTime },
  { what: /\bAbortSignal\s*\.\s*timeout\b/g, except: ownsTime },
  { what: /(?<![.\w$])(?:globalThis\s*\.\s*)?setImmediate\b/g, except: ['src/core/turns.ts'] },
  { what: /\bMath\s*\.\s*random\b/g, except: ['src/core/clock.ts', 'src/core/ids.ts'] },
  {
    what: /\b(?:randomUUID|randomBytes|randomInt|randomFill(?:Sync)?|getRandomValues)\b/g,
    except: ['src/core/ids.ts'],
  },
]

/** `setTimeout(run, ms) { … }`, `setTimeout(run): Timer` and `setTimeout: …` declare a method of a clock and are no calls. */
function isDeclaration(code: string, end: number): boolean {
  const rest = code.slice(end)
  if (/^\s*\??:/.test(rest)) return true
  let depth = 0
  for (let at = 0; at < rest.length; at++) {
    if (rest[at] === '(') depth++
    if (rest[at] === ')') depth--
    if (depth === 0 && rest[at]?.trim()) return /^\)\s*[:{]/.test(rest.slice(at))
  }
  return false
}

function uses(file: SourceFile, ban: Ban): string[] {
  if (ban.except.some((home) => file.path.startsWith(home))) return []
  return Array.from(file.code.matchAll(ban.what))
    .filter((match) => !isDeclaration(file.code, match.index + match[0].length))
    .map((match) => `${file.path}:${lineOf(file, match.index)} uses ${match[0]}; take it from the clock or the ids`)
}

const timeAndRandomnessAreInjected: Rule = (files) =>
  files.flatMap((file) => [
    ...bans.flatMap((ban) => uses(file, ban)),
    ...file.imports
      .filter(
        (specifier) =>
          /^(?:node:)?timers\b/.test(specifier) &&
          ![...ownsTime, 'src/core/turns.ts'].some((home) => file.path.startsWith(home)),
      )
      .map((specifier) => `${file.path} imports ${specifier}; take timers from the clock`),
  ])

const lineOf = (file: SourceFile, index: number) => file.text.slice(0, index).split('\n').length

// --- Status changes -------------------------------------------------------------------------------------------

const sendsEvents = 'src/operations/steps/send-event.ts'
const senders = [
  'src/operations/steps/transition.ts',
  'src/operations/steps/settle-family.ts',
  'src/operations/steps/groups-above.ts',
  // Hides the task first, and follows up afterwards.
  'src/operations/steps/delete.ts',
]

/** `sendEvent` asks the machine and carries out its actions; only what follows up the cascade may call it. */
const edgesAreWalkedByTransition: Rule = (files) =>
  files
    .filter((file) => !file.path.startsWith('src/machines/'))
    .flatMap((file) => [
      ...(sendsEvents !== file.path && importsName(file, 'moved', 'machines/changed-task.ts')
        ? [`${file.path} changes the status of a row by itself; use \`transition\``]
        : []),
      ...(!senders.includes(file.path) && importsName(file, 'sendEvent', '/send-event.ts')
        ? [`${file.path} changes a status without settling the family; use \`transition\``]
        : []),
    ])

function importsName(file: SourceFile, name: string, from: string): boolean {
  return Array.from(file.text.matchAll(/\bimport\s*\{([^}]*)\}\s*from\s*'([^']+)'/g)).some(
    ([, names, specifier]) => specifier?.endsWith(from) && new RegExp(`(?<!type\\s+)\\b${name}\\b`).test(names ?? ''),
  )
}

// --- Size, names and words -------------------------------------------------------------------------------------------

/** A call has at most some 120,000 arguments: these spread lists that are short by a limit. */
export const shortSpreads: Record<string, string> = {
  'src/actors/task-stream.ts': 'The pieces of live output that are kept (`maxLive`).',
  'src/plans/prepare-round.ts': 'What one change of a task returns.',
  'src/operations/steps/settle-family.ts': 'The blockers of one task.',
  'src/surfaces/cli/field-flags.ts': 'The fields of a task.',
  'src/surfaces/cli/main.ts': 'The verbs of the command line.',
  'src/surfaces/repl/session.ts': 'A page of a list.',
  'src/surfaces/chat/chat-turns.ts': 'A page of a list.',
  'src/memory/team/context.ts': 'A page of facts.',
  'src/memory/team/complete-task.ts': 'A page of facts.',
  'src/surfaces/terminal/live-view.ts': 'The rows that fit on the screen.',
  'src/surfaces/terminal/task-details.ts': 'The fields of a task.',
  'src/compat/exo/task.ts': 'A page of a list.',
}

const spreads = /(?:\.(?:push|unshift)|Math\.(?:max|min))\((?:[^()[\]{}]|\([^()]*\))*?\.\.\./g

const listsAreNotArguments: Rule = (files) =>
  files
    .filter((file) => shortSpreads[file.path] === undefined)
    .flatMap((file) =>
      Array.from(
        file.code.matchAll(spreads),
        ([call]) => `${file.path} spreads a list of any length into a call: ${call}`,
      ),
    )

/** Reasons that are no longer needed. */
export const idleReasons: Rule = (files) => {
  const byPath = new Map(files.map((file) => [file.path, file]))
  return Object.keys(shortSpreads)
    .filter((path) => (byPath.get(path)?.code ?? '').match(spreads) === null)
    .map((path) => `${path} is on the list of short spreads and has none`)
}

interface WordBan {
  word: RegExp
  instead: string
  /** Whether only names in code count, and not sentences. Default: false. */
  inCode?: true
}

/** Matched against text whose camelCase and snake_case names are split into words. */
const plainWords: WordBan[] = [
  { word: /\b(?:whoever|nobody|somebody|no one)\b/gi, instead: 'the caller, the client, the claimant, a person' },
  { word: /\b(?:told|tells?|hears?|heard)\b/gi, instead: 'is notified, reports, returns, receives' },
  { word: /\b(?:stir(?:s|red)?|rous(?:e|es|ed)|pok(?:e|es|ed))\b/gi, instead: 'wakes, notifies' },
  { word: /\b(?:lets? go|letting go)\b(?! =)/gi, instead: 'releases' },
  { word: /\bdeeds?\b/gi, instead: 'effect, action' },
  { word: /\b(?:patiently|enlists?|enlisted|discharged?)\b/gi, instead: 'with retries, registers, unregisters' },
  { word: /\b(?:caretakers?|portraits?)\b/gi, instead: 'maintenance, transcript' },
  { word: /\bfor ever\b/gi, instead: 'forever, permanently' },
  { word: /\bdoors?\b/gi, instead: 'guard, entry point' },
  { word: /\b(?:Moment|Seat|Desk|Manner)s?\b/g, instead: 'StepContext, Lease, Staging, WriteMode', inCode: true },
  { word: /(?<!\w )\bQuotes?\b(?! \w)/g, instead: 'ClaimToken', inCode: true },
  { word: /\b(?:most|longest|usual|fewest|largest|shortest) [A-Z]\w*/g, instead: 'max…, default…, min…', inCode: true },
]

interface Allowance {
  /** Matches the words that are allowed. */
  words: RegExp
  reason: string
}

const storedIds: Allowance = { words: /^told$/, reason: 'In stored ids of messages.' }
const thisRule: Allowance = { words: /./, reason: 'The rule and its planted violations.' }

export const mayUse: Record<string, Allowance> = {
  'src/operations/steps/notify-parent.ts': storedIds,
  'test/long/agents/background.test.ts': storedIds,
  'test/agents/background-process.ts': storedIds,
  'CHANGELOG.md': {
    words: /^(?:tell|stirred|enlist|discharge|let Go)$/,
    reason: 'The upgrade notes list the names that were replaced.',
  },
  'test/house/rules.ts': thisRule,
  'test/house.test.ts': thisRule,
}

/** Every character keeps its line. */
const splitNames = (text: string) => text.replaceAll(/(?<=[a-z\d])(?=[A-Z])|_/g, ' ')

/** The banned words of a file, also those that it may use. */
const bannedWordsOf = (file: SourceFile) => {
  const [text, code] = [splitNames(file.text), splitNames(file.code)]
  return plainWords.flatMap(({ word, instead, inCode }) =>
    Array.from((inCode ? code : text).matchAll(word), ({ 0: found, index }) => ({
      found,
      instead,
      line: (inCode ? code : text).slice(0, index).split('\n').length,
    })),
  )
}

export const wordsArePlain: Rule = (files) =>
  files.flatMap((file) =>
    bannedWordsOf(file)
      .filter(({ found }) => mayUse[file.path]?.words.test(found) !== true)
      .map(({ found, instead, line }) => `${file.path}:${line} says "${found}"; use: ${instead}`),
  )

/** Files that may use a banned word and do not. */
export const idleAllowances: Rule = (files) =>
  Object.entries(mayUse)
    .filter(([path, { words }]) => {
      const file = files.find((each) => each.path === path)
      return file === undefined || !bannedWordsOf(file).some(({ found }) => words.test(found))
    })
    .map(([path, { reason }]) => `${path} uses no banned word any more, so its reason is not needed: ${reason}`)

const namesOfTexts: Rule = (files) =>
  files
    .filter((file) => file.path.endsWith('-words.ts'))
    .map((file) => `${file.path}: name the kind of words: labels, a mapping, tokens, a text`)

const emptyNames = /^(?:utils?|common|helpers?|misc|managers?|types)$/

export const namesHaveMeaning: Rule = (files) =>
  files
    .filter((file) => file.path.split('/').some((part) => emptyNames.test(part.replace(/\..*$/, ''))))
    .map((file) => `${file.path}: name it after its content`)

/** Files that use the terms of other systems, because they exchange data with them. */
const usesForeignTerms =
  /^src\/compat\/|^src\/operations\/(?!steps\/|drafts\/)|^src\/[a-z]+\/operations\/|^src\/entities\/status-filter\.ts$|\/(?:task-mapping|board-files)\.ts$/

const canceledHasOneL: Rule = (files) =>
  files
    .filter((file) => !usesForeignTerms.test(file.path))
    .flatMap((file) =>
      Array.from(file.text.matchAll(/\w*cancell(?!ation)\w*/gi), (match) => {
        return `${file.path}:${lineOf(file, match.index)} says "${match[0]}"; here it is spelled with one l`
      }),
    )

/** A process is `killed` and a record has a `completionStatus` in Agent OS; everywhere else a task has one of eight states. */
const processStatusesAreVocabulary: Rule = (files) =>
  files
    .filter((file) => !file.path.startsWith('src/compat/'))
    .flatMap((file) =>
      Array.from(file.text.matchAll(/\b(?:process|completion)Status\w*|(['"`])killed\1/gi), (match) => {
        return `${file.path}:${lineOf(file, match.index)} says ${match[0]}; only vocabularies may`
      }),
    )

/** An id of a requirement says nothing to a reader of src, who cannot look it up: the comment gives the reason instead. */
const commentsCiteNoIds: Rule = (files) =>
  files.flatMap((file) =>
    Array.from(file.text.matchAll(/\bconformance\s+(?:[A-Z]\d?-)?\d[\w.]*/gi), (match) => {
      return `${file.path}:${lineOf(file, match.index)} cites ${match[0]}; say the reason`
    }),
  )

const noTodoComments: Rule = (files) =>
  files.flatMap((file) =>
    Array.from(file.text.matchAll(/\b(?:TODO|FIXME|XXX)\b/g), (match) => {
      return `${file.path}:${lineOf(file, match.index)} contains ${match[0]}`
    }),
  )

const openingComment = /^(?:#![^\n]*\n)?\s*(?:\/\*([\s\S]*?)\*\/|((?:\/\/[^\n]*(?:\n|$))+))/

function openingWords(file: SourceFile): number {
  const opening = openingComment.exec(file.text)
  const text = (opening?.[1] ?? opening?.[2] ?? '').replaceAll(/^[\s/*]*(?:biome-|oxlint-|eslint-|@ts-|<).*$/gm, '')
  return text.match(/[A-Za-z]{2,}/g)?.length ?? 0
}

const filesOpenWithAComment: Rule = (files) =>
  files
    .filter((file) => openingWords(file) < 4)
    .map((file) => `${file.path} does not open with a comment about its content`)

export const rules = {
  'every folder and root file of src has a level': everyPartHasALevel,
  'imports point down, and folders of one level never import each other': importsPointDown,
  'src itself has one file': rootIsShort,
  'no surface imports another': surfacesImportNoOther,
  'surfaces reach tasks through operations only': surfacesUseOperations,
  'a verb of the command line is in the file of its name': verbsAreInTheirFiles,
  'better-sqlite3 is imported by one file below ledger/sqlite': oneFileImportsTheDriver,
  'ledger files are opened by SQLite only, except to create them': sqliteOpensLedgerFiles,
  'time, timers and randomness come from the clock and the ids': timeAndRandomnessAreInjected,
  'SQL consists of literals of the code and bound values': sqlIsOfTheCode,
  'regular expressions are literals of the code': patternsAreOfTheCode,
  'regular expressions match in linear time': patternsAreLinear,
  'every status change of a task goes through transition': edgesAreWalkedByTransition,
  'the feed is followed by its follower only': feedHasOneFollower,
  'a loop that reads gives way to other work': readingLoopsGiveWay,
  'identifiers, comments and messages use plain words': wordsArePlain,
  'no file name ends in words': namesOfTexts,
  'no file or folder has a meaningless name': namesHaveMeaning,
  'canceled is spelled with one l': canceledHasOneL,
  'comments cite no ids of requirements': commentsCiteNoIds,
  'process and completion statuses occur in vocabularies only': processStatusesAreVocabulary,
  'a list of any length is not spread into the arguments of a call': listsAreNotArguments,
  'texts are cut at whole characters': cutsOfTexts,
  'no file contains TODO, FIXME or XXX': noTodoComments,
  'every file opens with a comment about its content': filesOpenWithAComment,
} satisfies Record<string, Rule>
