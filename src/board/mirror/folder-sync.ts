// One pass over a mirrored folder: what was changed in the files goes to the board, then what is new on the board goes into the
// files. In this order, so that nothing is written over an edit; and again for those files that change while it works.
import { realpathSync } from 'node:fs'
import { ErrandError } from '../../core/errors.ts'
import { requestedBy } from '../../steps/step-context.ts'
import type { BoardTarget } from '../board-host.ts'
import { numberNewcomers } from '../numbering.ts'
import { applyEdit } from './apply-edit.ts'
import { acquireLease, type MirrorLease } from './election.ts'
import { allNumbers, concernedBy, textsOf, type WantedFile } from './file-texts.ts'
import { type FolderFiles, inodeIn } from './folder-files.ts'
import { importFiles, type NewFile } from './import-files.ts'
import { type FileVerdict, judgeFile } from './judge-file.ts'
import type { MirrorHost } from './mirror-host.ts'
import { emptyReport, type MirrorReport } from './mirror-report.ts'
import { clearStaging, deskFolder, keepCopy } from './owned-folder.ts'
import { type FileValue, isNearlyOne, nameOf, numberIn, versionIn } from './task-file.ts'
import { createStaging, type Staging, takeAway, type WriteMode, writeFile } from './write-file.ts'

/** A file whose latest change is younger than this when it is read may change again without looking changed, in milliseconds. */
const restlessMs = 2_000
/** How long an old file is looked at after it was replaced, in milliseconds: whoever had it open may still write into it. */
const graceMs = 2_000
/** So long after somebody has put a file in the place of one of ours it is expected to happen again, in milliseconds. */
const carefulMs = 600_000
/** How often files that change while a pass works are looked at again in it; then the next pass does. */
const maxRounds = 8

export interface PassOrders {
  /** Which files to look at; all of them by default. */
  numbers?: ReadonlySet<number> | undefined
  /** Tasks that something happened to; undefined: write whatever is not in step. */
  tasks?: ReadonlySet<string> | undefined
  /**
   * A file that is broken or gone is left alone until a later pass finds it the same: somebody may be in the middle of writing it.
   * Default false: this pass has the last word.
   */
  patient?: boolean
}

interface SeenFile {
  text: string
  /** '' for one that is to be read again. */
  mark: string
}

interface OldFile {
  name: string
  number: number
  /** What it said when it was replaced; undefined for one that a dead mirror has left. */
  known: string | undefined
  until: number
}

export class FolderSync {
  readonly #host: MirrorHost
  readonly #place: BoardTarget
  readonly #seat: MirrorLease
  readonly #files: FolderFiles
  readonly desk: Staging
  /** What stood in each file when it was last read or written. */
  #seen = new Map<number, SeenFile>()
  /** Files that are left alone, by name, as they were when that was said. */
  #aside = new Map<string, string>()
  /** Files that were broken or gone at the last look, as they were then. */
  #doubtful = new Map<number, string>()
  #old: OldFile[] = []
  /** Which tasks speak of a number in their files. */
  #mentions = new Map<number, Set<number>>()
  /** The latest edit of each file that was taken. */
  #taken = new Map<number, { version: number; value: FileValue }>()
  /** The files that this mirror has put there: which ones they are, whatever stands in them. */
  #own = new Map<number, string>()
  #carefulUntil = 0
  #stale = new Set<number>()
  #allStale = true
  #holdsLease = false
  /** Until the first pass in this seat is through: what it finds is how things stand, not what somebody is about to write. */
  #isNew = true

  readonly #isLive: boolean

  /** `isLive`: it goes on for long, and beside others. */
  constructor(host: MirrorHost, place: BoardTarget, seat: MirrorLease, files: FolderFiles, isLive: boolean) {
    this.#host = host
    this.#place = place
    this.#seat = seat
    this.#files = files
    this.#isLive = isLive
    this.desk = createStaging(files, seat.id, `${deskFolder}/`)
  }

  async pass({ numbers, tasks, patient = false }: PassOrders = {}): Promise<MirrorReport> {
    const report = emptyReport()
    this.#requireFolder()
    if (!(await this.#sit())) return { ...report, standingBy: true }
    await numberNewcomers(this.#host, this.#place.board)
    if (tasks === undefined) this.#beginAnew()
    else await this.#addStale(tasks)
    let look: ReadonlySet<number> | undefined = this.#isNew ? undefined : numbers
    for (let round = 0; round < maxRounds; round++) {
      await this.#takeOldFiles(report)
      await this.#takeFiles(look, report, patient && !this.#isNew)
      look = await this.#writeFiles(report)
      if (look === undefined) return { ...report, standingBy: true }
      if (look.size === 0 && this.#stale.size === 0) break
    }
    this.#isNew = false
    return report
  }

  /** The last look at old files; then they are gone. Nothing is written any more. */
  async end(): Promise<MirrorReport> {
    const report = emptyReport()
    for (const old of this.#old) old.until = 0
    if (this.#holdsLease) await this.#takeOldFiles(report)
    return report
  }

  /** Whoever changes the path to somewhere else changes nothing there. */
  #requireFolder(): void {
    const { dir } = this.#seat
    let is: string | undefined
    try {
      is = realpathSync(dir)
    } catch {
      // Said below: it is not there.
    }
    if (is === dir) return
    throw new ErrandError(
      'INVALID_INPUT',
      `The mirrored folder ${dir} is ${is === undefined ? 'gone' : `now a way to ${is}`}.`,
      {
        path: dir,
      },
    )
  }

  async #sit(): Promise<boolean> {
    const seat = await acquireLease(this.#host, this.#seat)
    if (seat === 'theirs') {
      this.#holdsLease = false
      return false
    }
    if (this.#holdsLease && seat === 'mine') return true
    // What another has written meanwhile is looked at like anything else.
    this.#seen = new Map()
    this.#taken = new Map()
    this.#holdsLease = true
    this.#isNew = true
    // Nobody knows yet who else is here.
    if (this.#isLive) this.#expectReplacing()
    this.#beginAnew()
    const kept = new Set(this.#old.map(({ name }) => name))
    for (const { name, number } of clearStaging(this.#files))
      if (!kept.has(name)) this.#old.push({ name, number, known: undefined, until: 0 })
    return true
  }

  /** Everything is compared, and everything that is left alone is said again. */
  #beginAnew(): void {
    this.#aside = new Map()
    this.#doubtful = new Map()
    this.#allStale = true
  }

  async #addStale(tasks: ReadonlySet<string>): Promise<void> {
    if (tasks.size === 0) return
    for (const number of await concernedBy(this.#host, this.#place, tasks)) {
      this.#stale.add(number)
      for (const other of this.#mentions.get(number) ?? []) this.#stale.add(other)
    }
  }

  // ── from the files to the board ──

  async #takeFiles(numbers: ReadonlySet<number> | undefined, report: MirrorReport, patient: boolean): Promise<void> {
    const fresh: NewFile[] = []
    const decide = !patient || numbers === undefined
    for (const number of numbers ?? this.#listed(report)) {
      const name = nameOf(number)
      const seen = this.#seen.get(number)
      const mark = this.#files.mark(name)
      if (mark !== undefined && (mark === seen?.mark || mark === this.#aside.get(name))) continue
      const look = this.#files.look(name)
      this.#noticeReplacing(number, mark)
      if (look.kind === 'none') this.#takeAbsence(number, report, patient, decide)
      else if (look.kind === 'other') this.#leaveAside(number, look.mark, look.why, report)
      else if (seen?.text === look.text) this.#settle(number, look)
      else {
        const verdict = await this.#judge(number, look.text)
        if (verdict.kind === 'new') fresh.push(verdict.file)
        else if (verdict.kind === 'foreign') this.#doubt(number, look.mark, verdict.why, report, patient, decide)
        else await this.#take(number, look, verdict, report)
      }
    }
    if (fresh.length > 0) await this.#import(fresh, report)
  }

  /** All numbers that have a file, or had one. */
  #listed(report: MirrorReport): number[] {
    const numbers = new Set(this.#seen.keys())
    for (const name of this.#files.list()) {
      const number = numberIn(name)
      if (number !== undefined) numbers.add(number)
      else if (isNearlyOne(name) && !this.#aside.has(name)) {
        this.#aside.set(name, '')
        report.skipped.push({ file: name, why: 'its name is none of a task: task_N.json, with a number from 1 on' })
      }
    }
    return [...numbers].sort((a, b) => a - b)
  }

  /** Another file stands where this mirror had put one: somebody here replaces files. */
  #noticeReplacing(number: number, mark: string | undefined): void {
    const own = this.#own.get(number)
    if (own === undefined || mark === undefined || inodeIn(mark) === own) return
    this.#own.delete(number)
    this.#expectReplacing()
  }

  #expectReplacing(): void {
    this.#carefulUntil = this.#host.clock.now() + carefulMs
  }

  #judge(number: number, text: string): Promise<FileVerdict> {
    return judgeFile(this.#host, this.#place, this.#seat.dir, number, text, this.#taken.get(number))
  }

  /** Read, and known. A file that changed a moment ago is read again next time: its times may not tell the next change from this. */
  #settle(number: number, { text, mark, changedMs }: { text: string; mark: string; changedMs: number }): void {
    this.#aside.delete(nameOf(number))
    this.#doubtful.delete(number)
    const isRestless = Math.abs(this.#host.clock.now() - changedMs) < restlessMs
    this.#seen.set(number, { text, mark: isRestless ? '' : mark })
  }

  #leaveAside(number: number, mark: string, why: string, report: MirrorReport): void {
    const name = nameOf(number)
    this.#seen.delete(number)
    this.#doubtful.delete(number)
    this.#aside.set(name, mark)
    report.skipped.push({ file: name, why })
  }

  #doubt(number: number, mark: string, why: string, report: MirrorReport, patient: boolean, decide: boolean): void {
    // Nothing is written over it in the meantime, either.
    this.#seen.delete(number)
    if (!patient || (decide && this.#doubtful.get(number) === mark)) this.#leaveAside(number, mark, why, report)
    else if (decide || !this.#doubtful.has(number)) this.#doubtful.set(number, mark)
  }

  #takeAbsence(number: number, report: MirrorReport, patient: boolean, decide: boolean): void {
    this.#stale.add(number)
    const wasAside = this.#aside.delete(nameOf(number))
    if (wasAside || !this.#seen.has(number)) {
      this.#doubtful.delete(number)
      return
    }
    if (patient && !(decide && this.#doubtful.get(number) === 'gone')) {
      this.#doubtful.set(number, 'gone')
      return
    }
    this.#doubtful.delete(number)
    this.#seen.delete(number)
    const why = 'it was removed, and its task is still on the board: say status "deleted" in it, or use board:delete'
    report.refused.push({ file: nameOf(number), why })
  }

  /** What a verdict means for a file, and for an old one that somebody wrote into. */
  async #take(
    number: number,
    look: { text: string; mark: string; changedMs: number },
    verdict: Exclude<FileVerdict, { kind: 'new' | 'foreign' }>,
    report: MirrorReport,
  ): Promise<void> {
    this.#settle(number, look)
    this.#stale.add(number)
    if (verdict.kind === 'edit') await this.#apply(number, look.text, verdict, report)
    else if (verdict.kind === 'refused') this.#refuse(number, look.text, verdict.why, report)
    else if (verdict.kind === 'gone') {
      if (!verdict.ours && !this.#refuse(number, look.text, verdict.why, report)) return
      this.#takeAway(number, look.text, report, verdict.ours)
    }
  }

  async #apply(
    number: number,
    text: string,
    { edit, version }: Extract<FileVerdict, { kind: 'edit' }>,
    report: MirrorReport,
  ): Promise<void> {
    try {
      await this.#host.step(
        applyEdit(this.#place, edit, requestedBy(await this.#host.stepContext(), this.#place.caller)),
      )
    } catch (error) {
      if (!ErrandError.isInstance(error) || isTrouble(error)) {
        // Not judged at all: it is looked at again.
        this.#seen.delete(number)
        throw error
      }
      this.#refuse(number, text, error.message, report)
      return
    }
    this.#taken.set(number, { version, value: edit.edited })
    addOnce(report.imported, nameOf(number))
  }

  /** False when no copy can be kept: then the file stays as it is. */
  #refuse(number: number, text: string, why: string, report: MirrorReport): boolean {
    const file = nameOf(number)
    try {
      const copy = keepCopy(this.desk, number, text, versionOf(text))
      report.refused.push({ file, why, copy })
      return true
    } catch (error) {
      const kept = error instanceof Error ? error.message : String(error)
      this.#aside.set(file, this.#files.mark(file) ?? '')
      report.refused.push({ file, why: `${why}. No copy of it could be kept, so it stays as it is: ${kept}` })
      return false
    }
  }

  #takeAway(number: number, text: string, report: MirrorReport, ours: boolean): void {
    const name = nameOf(number)
    const taken = takeAway(this.desk, name, number, text)
    this.#seen.delete(number)
    if (taken.old !== undefined) this.#watchOld(taken.old, number, taken.kind === 'written' ? text : undefined)
    if (taken.kind === 'written' && ours) report.removed.push(name)
  }

  async #import(files: readonly NewFile[], report: MirrorReport): Promise<void> {
    const done = await importFiles(this.#host, this.#place, this.#seat.dir, files)
    const texts = new Map(files.map((file) => [file.number, file.text]))
    for (const number of done.numbers) {
      report.imported.push(nameOf(number))
      this.#aside.delete(nameOf(number))
      this.#doubtful.delete(number)
      this.#seen.set(number, { text: texts.get(number) as string, mark: '' })
    }
    for (const { number, key, why } of done.unheld) report.unheld.push({ file: nameOf(number), key, why })
    for (const { number, why } of done.refused) {
      const text = texts.get(number) as string
      if (this.#refuse(number, text, why, report)) this.#takeAway(number, text, report, false)
    }
    // Their edges show in the files of others.
    this.#allStale = true
  }

  // ── old files ──

  #watchOld(name: string, number: number, known: string | undefined): void {
    this.#old.push({ name, number, known, until: this.#host.clock.now() + graceMs })
  }

  /** Whoever had a file open when it was replaced has written into the old one: that is an edit like any other. */
  async #takeOldFiles(report: MirrorReport): Promise<void> {
    const now = this.#host.clock.now()
    const left: OldFile[] = []
    for (const old of this.#old.splice(0)) {
      const look = this.#files.look(old.name, true)
      const isOver = now >= old.until
      if (look.kind === 'text' && look.text !== old.known) {
        if (!(await this.#takeOld(old, look.text, isOver, report))) {
          left.push(old)
          continue
        }
        old.known = look.text
      }
      if (isOver || look.kind === 'none') this.#files.remove(old.name)
      else left.push(old)
    }
    this.#old.push(...left)
  }

  /** False when it cannot be read yet: somebody is in the middle of it. */
  async #takeOld({ number }: OldFile, text: string, isOver: boolean, report: MirrorReport): Promise<boolean> {
    const verdict = await this.#judge(number, text)
    if (verdict.kind === 'foreign' && !isOver) return false
    this.#stale.add(number)
    if (verdict.kind === 'edit') await this.#apply(number, text, verdict, report)
    else if (verdict.kind === 'new') this.#refuse(number, text, 'it was replaced before it could be read', report)
    else if (verdict.kind !== 'ours' && !(verdict.kind === 'gone' && verdict.ours))
      this.#refuse(number, text, verdict.why, report)
    return true
  }

  // ── from the board to the files ──

  /** Numbers of files that have changed meanwhile; undefined when another mirror writes them now. */
  async #writeFiles(report: MirrorReport): Promise<Set<number> | undefined> {
    const { dir } = this.#seat
    const stale = this.#allStale ? await allNumbers(this.#host, this.#place, dir) : [...this.#stale]
    // What is left alone keeps the text that it has in the ledger, too: it says from which one an edit was made.
    const numbers = stale.filter((number) => !this.#aside.has(nameOf(number)) && !this.#doubtful.has(number))
    this.#allStale = false
    this.#stale.clear()
    const again = new Set<number>()
    const wanted = await textsOf(this.#host, this.#place, this.#seat, numbers)
    if (wanted === undefined) {
      this.#holdsLease = false
      this.#allStale = true
      return undefined
    }
    for (const each of wanted) if (!this.#write(each, report)) again.add(each.number)
    return again
  }

  #write({ number, text, mentions }: WantedFile, report: MirrorReport): boolean {
    const name = nameOf(number)
    const seen = this.#seen.get(number)
    for (const other of mentions) this.#mentions.set(other, (this.#mentions.get(other) ?? new Set()).add(number))
    // Of a task that is gone: judged like any other file that is there without one.
    if (text === null) {
      if (seen !== undefined) this.#seen.set(number, { text: '', mark: '' })
      return seen === undefined || seen.text === ''
    }
    if (seen?.text === text) return true
    const manner: WriteMode = this.#host.clock.now() < this.#carefulUntil ? 'moved aside' : 'in one motion'
    const written = writeFile(this.desk, name, number, text, seen?.text ?? null, manner)
    if (written.old !== undefined) this.#watchOld(written.old, number, seen?.text)
    if (written.kind === 'changed') {
      this.#stale.add(number)
      return false
    }
    const own = inodeIn(this.#files.mark(name))
    if (own !== undefined) this.#own.set(number, own)
    // Read again at the next look: by now it may be somebody else's.
    this.#seen.set(number, { text, mark: '' })
    addOnce(report.written, name)
    return true
  }
}

/** The ledger could not be asked: that is no answer. */
function isTrouble({ code }: ErrandError): boolean {
  return (
    (code.startsWith('LEDGER_') && code !== 'LEDGER_WRITE_FAILED') ||
    code === 'ENGINE_CLOSED' ||
    code === 'OUTCOME_UNKNOWN'
  )
}

function versionOf(text: string): number {
  try {
    return versionIn(JSON.parse(text) as FileValue) ?? 0
  } catch {
    // A copy of what cannot be read has a name all the same.
    return 0
  }
}

function addOnce(list: string[], name: string): void {
  if (!list.includes(name)) list.push(name)
}
