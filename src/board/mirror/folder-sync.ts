// One pass over a mirrored folder: edits of the files are applied to the board, then changes of the board are written to the files. In
// this order, so that no edit is overwritten; files that change during the pass are read again.
import { realpathSync } from 'node:fs'
import { ErrandError } from '../../core/errors.ts'
import { messageOf } from '../../core/stored-error.ts'
import { requestedBy } from '../../operations/steps/step-context.ts'
import type { BoardTarget } from '../board-host.ts'
import { numberNewTasks, skipNumbers } from '../numbering.ts'
import { acquireLease, type MirrorLease } from './election.ts'
import { applyEdit, type FileVerdict, judgeFile } from './file-edit.ts'
import { affectedFiles, allNumbers, ensureTexts, type WantedFile } from './file-texts.ts'
import type { FileState } from './folder-files.ts'
import { importFiles, type NewFile } from './import-files.ts'
import type { MirrorHost } from './mirror-host.ts'
import { emptyReport, type MirrorReport } from './mirror-report.ts'
import { keepCopy, type Staging } from './staging.ts'
import { type FileValue, isMisnamed, maxNewNumber, nameOf, numberIn } from './task-file.ts'

/** A file that changed less than this before it was read may change again with the same timestamps, in milliseconds. */
const recentMs = 2_000
/** How long after it was moved aside a file is read once more, in milliseconds: a program that had it open may write into it. */
const graceMs = 1_000
/** How often a pass repeats for files that change meanwhile; the rest is left to the next pass. */
const maxRounds = 8

export interface PassOptions {
  /** The files to check; default: all. */
  numbers?: ReadonlySet<number> | undefined
  /** Tasks that have changed; undefined: write every file that is out of date. */
  tasks?: ReadonlySet<string> | undefined
  /**
   * An unreadable or missing file is left unchanged until a pass over all files finds it in the same state again, because a program may be
   * writing it. Default false: this pass decides.
   */
  deferIncomplete?: boolean
}

type TextState = Extract<FileState, { kind: 'text' }>
type EditVerdict = Extract<FileVerdict, { kind: 'edit' }>

/** An edit that the board has refused so far. */
interface RefusedEdit {
  number: number
  state: TextState
  verdict: EditVerdict
  why: string
}

export class FolderSync {
  readonly #host: MirrorHost
  readonly #target: BoardTarget
  readonly #lease: MirrorLease
  readonly #staging: Staging
  /** The content of each file when it was last read or written; the mark is '' if it must be read again. */
  #seen = new Map<number, { text: string; mark: string }>()
  /** Files that are left unchanged while they have this mark ('' for a missing file), by name. */
  #aside = new Map<string, { mark: string; isReported: boolean }>()
  /** Files that were moved aside, by when they are read once more; `known`: their content, if this mirror has moved them. */
  #old: Array<{ name: string; number: number; known: string | undefined; until: number }> = []
  /** Which files refer to a task, by its number. */
  readonly #mentions = new Map<number, Set<number>>()
  /** The latest applied edit of each file. */
  #taken = new Map<number, { version: number; value: FileValue }>()
  readonly #stale = new Set<number>()
  #allStale = true
  #holdsLease = false
  /** True during the first pass with this lease: what it finds is final, not a file that is being written. */
  #isNew = true

  constructor(host: MirrorHost, target: BoardTarget, lease: MirrorLease, staging: Staging) {
    this.#host = host
    this.#target = target
    this.#lease = lease
    this.#staging = staging
  }

  async pass({ numbers, tasks, deferIncomplete = false }: PassOptions): Promise<MirrorReport> {
    const report = emptyReport()
    requireFolder(this.#lease.dir)
    if (!(await this.#acquireLease())) return { ...report, standingBy: true }
    await numberNewTasks(this.#host, this.#target.board)
    if (tasks === undefined) this.#compareAll()
    else await this.#addStale(tasks)
    const decides = !deferIncomplete || this.#isNew
    let changed = this.#isNew ? undefined : numbers
    for (let round = 0; round < maxRounds; round++) {
      await this.#takeOldFiles(report, this.#host.clock.now())
      await this.#takeFiles(changed, report, decides)
      changed = await this.#writeFiles(report)
      if (changed === undefined) return { ...report, standingBy: true }
      if (changed.size === 0 && this.#stale.size === 0) break
    }
    this.#isNew = false
    return report
  }

  /** Checks and removes all files that were moved aside; writes nothing more. */
  async end(): Promise<MirrorReport> {
    const report = emptyReport()
    if (this.#holdsLease) await this.#takeOldFiles(report, Number.POSITIVE_INFINITY)
    return report
  }

  async #acquireLease(): Promise<boolean> {
    const lease = await acquireLease(this.#host, this.#lease)
    const held = this.#holdsLease
    this.#holdsLease = lease !== 'theirs'
    if (lease === 'theirs' || (held && lease === 'mine')) return this.#holdsLease
    // Changes by the previous writer are judged like any others.
    this.#seen = new Map()
    this.#taken = new Map()
    this.#isNew = true
    this.#compareAll()
    const own = new Set(this.#old.map(({ name }) => name))
    const left = this.#staging.clear().filter(({ name }) => !own.has(name))
    this.#old = [...left.map((old) => ({ ...old, known: undefined, until: 0 })), ...this.#old]
    return true
  }

  /** Compares all files, and reports again those that are left unchanged. */
  #compareAll(): void {
    this.#aside = new Map()
    this.#allStale = true
  }

  async #addStale(tasks: ReadonlySet<string>): Promise<void> {
    if (tasks.size === 0) return
    for (const number of await affectedFiles(this.#host, this.#target, tasks)) {
      this.#stale.add(number)
      for (const other of this.#mentions.get(number) ?? []) this.#stale.add(other)
    }
  }

  // ── from the files to the board ──

  async #takeFiles(numbers: ReadonlySet<number> | undefined, report: MirrorReport, decides: boolean): Promise<void> {
    const fresh: NewFile[] = []
    const refused: RefusedEdit[] = []
    let held = 0
    for (const number of numbers ?? this.#listed(report)) {
      const name = nameOf(number)
      const mark = this.#staging.files.mark(name) ?? ''
      const aside = this.#aside.get(name)
      if (mark !== '' && (mark === this.#seen.get(number)?.mark || (aside?.isReported && mark === aside.mark))) continue
      const isDecided = decides || (numbers === undefined && aside?.mark === mark)
      const state = this.#staging.files.read(name)
      if (state.kind === 'none') this.#takeMissing(number, report, isDecided)
      else if (state.kind === 'other') this.#leave(number, state, report, isDecided)
      else if (this.#seen.get(number)?.text === state.text) this.#recordSeen(number, state)
      else {
        const verdict = await this.#judge(number, state.text)
        if (verdict.kind === 'new') fresh.push(verdict.file)
        else if (verdict.kind === 'foreign') {
          if (verdict.holdsNumber && number <= maxNewNumber) held = number
          this.#leave(number, { mark: state.mark, why: verdict.why }, report, isDecided)
        } else if (verdict.kind === 'edit') await this.#takeEdit({ number, state, verdict }, refused, report)
        else {
          this.#recordSeen(number, state)
          const isSafe = await this.#settle(number, state.text, verdict, report)
          if (isSafe && verdict.kind === 'deleted') this.#remove(number, state.text, verdict.ours ? report.removed : [])
        }
      }
    }
    if (fresh.length > 0) await this.#import(fresh, report)
    if (held > 0) await skipNumbers(this.#host, this.#target.board, held)
    await this.#retryEdits(refused, report)
  }

  /** The numbers that have a file, or had one. */
  #listed(report: MirrorReport): number[] {
    const numbers = new Set(this.#seen.keys())
    for (const name of this.#staging.files.list()) {
      const number = numberIn(name)
      if (number !== undefined) numbers.add(number)
      else if (isMisnamed(name) && !this.#aside.has(name)) {
        this.#aside.set(name, { mark: '', isReported: true })
        report.skipped.push({ file: name, why: 'it is not named like a task file: expected task_N.json with N from 1' })
      }
    }
    return [...numbers].sort((a, b) => a - b)
  }

  #judge(number: number, text: string): Promise<FileVerdict> {
    return judgeFile(this.#host, this.#target, this.#lease.dir, number, text, this.#taken.get(number))
  }

  /** Records the content of a file. A recent change may be followed by one with the same timestamps, so that file is read again. */
  #recordSeen(number: number, { text, mark, changedMs }: TextState): void {
    // It was not written meanwhile.
    if (this.#aside.delete(nameOf(number))) this.#stale.add(number)
    const isRecent = Math.abs(this.#host.clock.now() - changedMs) < recentMs
    this.#seen.set(number, { text, mark: isRecent ? '' : mark })
  }

  /** Leaves a file unchanged, and reports it once that is decided. */
  #leave(number: number, { mark, why }: { mark: string; why: string }, report: MirrorReport, isDecided: boolean): void {
    const file = nameOf(number)
    this.#seen.delete(number)
    this.#aside.set(file, { mark, isReported: isDecided })
    if (isDecided) report.skipped.push({ file, why })
  }

  /** A file that this mirror has never seen is written at once; another one may be missing only until a program has replaced it. */
  #takeMissing(number: number, report: MirrorReport, isDecided: boolean): void {
    const file = nameOf(number)
    const wasSeen = this.#seen.has(number)
    if (wasSeen && !isDecided) {
      this.#aside.set(file, { mark: '', isReported: false })
      return
    }
    this.#stale.add(number)
    this.#aside.delete(file)
    this.#seen.delete(number)
    const why =
      'it was removed, but its task is still on the board: set status "deleted" in the file, or use board:delete'
    if (wasSeen) report.refused.push({ file, why })
  }

  async #takeEdit(edit: Omit<RefusedEdit, 'why'>, refused: RefusedEdit[], report: MirrorReport): Promise<void> {
    const { number, state, verdict } = edit
    this.#stale.add(number)
    // Read again if the pass fails before the edit is decided.
    this.#seen.delete(number)
    const why = await this.#apply(number, verdict, report)
    if (why === undefined) this.#recordSeen(number, state)
    else refused.push({ ...edit, why })
  }

  /**
   * Tries refused edits again, as long as another one succeeds: one file may complete the blocker of the task that another one starts,
   * whichever is read first. Those that are left are refused.
   */
  async #retryEdits(refused: readonly RefusedEdit[], report: MirrorReport): Promise<void> {
    let left = [...refused]
    for (let before = Number.POSITIVE_INFINITY; left.length > 0 && left.length < before; ) {
      before = left.length
      const tried = left.reverse()
      left = []
      for (const edit of tried) await this.#takeEdit(edit, left, report)
    }
    for (const { number, state, why } of left.sort((a, b) => a.number - b.number)) {
      this.#recordSeen(number, state)
      this.#refuse(number, state.text, why, report)
    }
  }

  /** Applies or refuses what a text says. Returns false when it must stay where it is, because no copy can be kept. */
  async #settle(number: number, text: string, verdict: FileVerdict, report: MirrorReport): Promise<boolean> {
    this.#stale.add(number)
    if (verdict.kind === 'ours' || (verdict.kind === 'deleted' && verdict.ours)) return true
    const why =
      verdict.kind === 'edit'
        ? await this.#apply(number, verdict, report)
        : verdict.kind === 'new'
          ? 'it was replaced before it could be read'
          : verdict.why
    return why === undefined || this.#refuse(number, text, why, report)
  }

  /** Returns why the board refuses the edit; undefined when it is applied. @throws ErrandError when the ledger could not judge it. */
  async #apply(number: number, { edit, version }: EditVerdict, report: MirrorReport): Promise<string | undefined> {
    try {
      const ctx = requestedBy(await this.#host.stepContext(), this.#target.caller)
      await this.#host.step(applyEdit(this.#target, edit, ctx))
    } catch (error) {
      if (!ErrandError.isInstance(error) || isLedgerUnavailable(error)) throw error
      return error.message
    }
    this.#taken.set(number, { version, value: edit.edited })
    addOnce(report.imported, nameOf(number))
    return undefined
  }

  /** Refuses an edit and keeps a copy. Returns false when no copy can be kept; then the file stays as it is. */
  #refuse(number: number, text: string, why: string, report: MirrorReport): boolean {
    const file = nameOf(number)
    const { files } = this.#staging
    try {
      report.refused.push({ file, why, copy: keepCopy(files, number, text) })
      return true
    } catch (error) {
      this.#aside.set(file, { mark: files.mark(file) ?? '', isReported: true })
      const reason = `${why}. No copy could be kept, so the file stays as it is: ${messageOf(error)}`
      report.refused.push({ file, why: reason })
      return false
    }
  }

  /** Removes a file with this content. */
  #remove(number: number, text: string, removed: string[]): void {
    this.#seen.delete(number)
    if (this.#put(number, null, text)) removed.push(nameOf(number))
  }

  async #import(files: readonly NewFile[], report: MirrorReport): Promise<void> {
    const done = await importFiles(this.#host, this.#target, this.#lease.dir, files)
    const texts = new Map(files.map((file) => [file.number, file.text]))
    for (const number of done.numbers) {
      report.imported.push(nameOf(number))
      this.#aside.delete(nameOf(number))
      this.#seen.set(number, { text: texts.get(number) as string, mark: '' })
    }
    for (const { number, key, why } of done.unheld) report.unheld.push({ file: nameOf(number), key, why })
    for (const { number, why } of done.refused) {
      const text = texts.get(number) as string
      if (this.#refuse(number, text, why, report)) this.#remove(number, text, [])
    }
    // The edges of the new tasks show in other files.
    this.#allStale = true
  }

  /** Reads the files once more that were moved aside before a time, and removes them. What a program has written into one is an edit. */
  async #takeOldFiles(report: MirrorReport, now: number): Promise<void> {
    for (let [old] = this.#old; old !== undefined && old.until <= now; [old] = this.#old) {
      const state = this.#staging.files.read(old.name)
      if (state.kind === 'other') report.skipped.push({ file: old.name, why: state.why })
      else if (
        state.kind === 'none' ||
        state.text === old.known ||
        (await this.#settle(old.number, state.text, await this.#judge(old.number, state.text), report))
      )
        this.#staging.files.remove(old.name)
      this.#old.shift()
    }
  }

  // ── from the board to the files ──

  /** Writes outdated files. Returns the numbers of files that changed meanwhile; undefined when another mirror has the lease. */
  async #writeFiles(report: MirrorReport): Promise<Set<number> | undefined> {
    const { dir } = this.#lease
    const stale = this.#allStale ? await allNumbers(this.#host, this.#target, dir) : [...this.#stale]
    // Files that are left unchanged keep their stored text as well: it is the base of the edit.
    const numbers = stale.filter((number) => !this.#aside.has(nameOf(number)))
    this.#allStale = false
    this.#stale.clear()
    const wanted = await ensureTexts(this.#host, this.#target, this.#lease, numbers)
    if (wanted === undefined) {
      this.#holdsLease = false
      this.#allStale = true
      return undefined
    }
    return new Set(wanted.filter((file) => !this.#write(file, report)).map(({ number }) => number))
  }

  #write({ number, text, mentions }: WantedFile, report: MirrorReport): boolean {
    const seen = this.#seen.get(number)
    for (const other of mentions) this.#mentions.set(other, (this.#mentions.get(other) ?? new Set()).add(number))
    // The file of a deleted task: judged like any file without a task.
    if (text === null) {
      if (seen !== undefined) this.#seen.set(number, { text: '', mark: '' })
      return seen === undefined || seen.text === ''
    }
    if (seen?.text === text) return true
    if (!this.#put(number, text, seen?.text ?? null)) {
      this.#stale.add(number)
      return false
    }
    // Read again at the next check: another program may have replaced it by then.
    this.#seen.set(number, { text, mark: '' })
    addOnce(report.written, nameOf(number))
    return true
  }

  #put(number: number, text: string | null, known: string | null): boolean {
    const { done, old } = this.#staging.put(nameOf(number), number, text, known)
    const until = this.#host.clock.now() + graceMs
    if (old !== undefined) this.#old.push({ name: old, number, known: known ?? undefined, until })
    return done
  }
}

/** Refuses a path that leads elsewhere by now, so that nothing is written there. */
function requireFolder(dir: string): void {
  let is: string | undefined
  try {
    is = realpathSync(dir)
  } catch {
    // Reported below as missing.
  }
  if (is === dir) return
  const where = is === undefined ? 'no longer there' : `now a link to ${is}`
  throw new ErrandError('INVALID_INPUT', `The mirrored folder ${dir} is ${where}.`, { path: dir })
}

/** Whether the ledger was unavailable, so that the edit was not judged. */
function isLedgerUnavailable({ code }: ErrandError): boolean {
  return (
    (code.startsWith('LEDGER_') && code !== 'LEDGER_WRITE_FAILED') ||
    code === 'ENGINE_CLOSED' ||
    code === 'OUTCOME_UNKNOWN'
  )
}

function addOnce(list: string[], name: string): void {
  if (!list.includes(name)) list.push(name)
}
