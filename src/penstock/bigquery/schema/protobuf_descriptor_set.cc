#include "penstock/bigquery/schema/protobuf_descriptor_set.h"

#include <google/protobuf/any.pb.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/field_mask.pb.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/wrappers.pb.h>

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/protobuf_well_known.h"

namespace penstock::bigquery {
namespace {

using base::invalidArgument;
using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::DescriptorProto;
using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;

/// A program that does not use a linked-in type may not have it in its pool.
void linkGoogleTypes() {
  (void)google::protobuf::Any::descriptor();
  (void)google::protobuf::Duration::descriptor();
  (void)google::protobuf::FieldMask::descriptor();
  (void)google::protobuf::Struct::descriptor();
  (void)google::protobuf::Timestamp::descriptor();
  (void)google::protobuf::Int64Value::descriptor();
}

class FirstError final : public DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string& file, const std::string& element,
                const google::protobuf::Message* /*descriptor*/, ErrorLocation /*location*/,
                const std::string& message) override {
    if (text_.empty()) text_ = fmt::format("{}: {}: {}", file, element, message);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Builds files after those that they import, in whatever order the set has them.
class FileBuilder {
 public:
  FileBuilder(const FileDescriptorSet& set, DescriptorPool* pool) : pool_(pool) {
    for (const FileDescriptorProto& file : set.file()) files_.emplace(file.name(), &file);
  }

  absl::Status buildAll() {
    for (const auto& [name, file] : files_) PENSTOCK_RETURN_IF_ERROR(build(name, ""));
    return absl::OkStatus();
  }

 private:
  absl::Status build(const std::string& name, const std::string& importer) {
    if (pool_->FindFileByName(name) != nullptr) return absl::OkStatus();
    const FileDescriptorProto* file = find(name);
    if (file == nullptr) {
      return invalidArgument(
          "the descriptor set has no file {}, which {} imports; write the set with protoc "
          "--include_imports --descriptor_set_out=FILE",
          name, importer);
    }
    if (!started_.insert(name).second) {
      return invalidArgument("the descriptor set is malformed: {} imports itself", name);
    }
    for (const std::string& imported : file->dependency()) {
      PENSTOCK_RETURN_IF_ERROR(build(imported, name));
    }
    FirstError error;
    const FileDescriptor* built = pool_->BuildFileCollectingErrors(*file, &error);
    if (built == nullptr) {
      return invalidArgument("the descriptor set is malformed: {}", error.text());
    }
    for (int i = 0; i < built->message_type_count(); ++i) {
      PENSTOCK_RETURN_IF_ERROR(checkMaps(*built->message_type(i)));
    }
    return absl::OkStatus();
  }

  /// The pool believes what says of itself that it is a map's entry.
  static absl::Status checkMaps(const Descriptor& type) {
    if (type.options().map_entry() && !isMapEntry(type)) {
      return invalidArgument(
          "the descriptor set is malformed: {} is called a map's entry and has not its key and "
          "value",
          type.full_name());
    }
    for (int i = 0; i < type.nested_type_count(); ++i) {
      PENSTOCK_RETURN_IF_ERROR(checkMaps(*type.nested_type(i)));
    }
    return absl::OkStatus();
  }

  const FileDescriptorProto* find(const std::string& name) {
    const auto found = files_.find(name);
    if (found != files_.end()) return found->second;
    if (!name.starts_with("google/protobuf/")) return nullptr;
    linkGoogleTypes();
    const FileDescriptor* known = DescriptorPool::generated_pool()->FindFileByName(name);
    if (known == nullptr) return nullptr;
    known->CopyTo(&google_.emplace_back());
    return &google_.back();
  }

  DescriptorPool* const pool_;
  std::map<std::string, const FileDescriptorProto*> files_;
  std::deque<FileDescriptorProto> google_;
  std::set<std::string> started_;
};

absl::StatusOr<FileDescriptorSet> parse(std::string_view serialized) {
  FileDescriptorSet set;
  if (!set.ParseFromArray(serialized.data(), static_cast<int>(serialized.size())) ||
      set.file_size() == 0) {
    return invalidArgument(
        "not a descriptor set: write one with protoc --include_imports --descriptor_set_out=FILE");
  }
  return set;
}

void addNames(const DescriptorProto& message, const std::string& scope,
              std::vector<std::string>* names) {
  if (message.options().map_entry()) return;
  names->push_back(scope + message.name());
  for (const DescriptorProto& nested : message.nested_type()) {
    addNames(nested, names->back() + ".", names);
  }
}

std::vector<std::string> namesIn(const FileDescriptorSet& set) {
  std::vector<std::string> names;
  for (const FileDescriptorProto& file : set.file()) {
    if (file.name().starts_with("google/protobuf/")) continue;
    const std::string scope = file.package().empty() ? "" : file.package() + ".";
    for (const DescriptorProto& message : file.message_type()) addNames(message, scope, &names);
  }
  return names;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const DescriptorPool>> readDescriptorSet(
    std::string_view serialized) {
  PENSTOCK_ASSIGN_OR_RETURN(const FileDescriptorSet set, parse(serialized));
  auto pool = std::make_shared<DescriptorPool>();
  PENSTOCK_RETURN_IF_ERROR(FileBuilder(set, pool.get()).buildAll());
  return std::shared_ptr<const DescriptorPool>(std::move(pool));
}

absl::StatusOr<const Descriptor*> findMessage(const DescriptorPool& pool,
                                              std::string_view serialized, std::string_view name) {
  if (const Descriptor* found = pool.FindMessageTypeByName(std::string(name))) return found;
  PENSTOCK_ASSIGN_OR_RETURN(const FileDescriptorSet set, parse(serialized));
  constexpr size_t kMaxNames = 20;
  std::vector<std::string> names = namesIn(set);
  const size_t numNames = names.size();
  if (numNames > kMaxNames) names.resize(kMaxNames);
  return invalidArgument(
      "the descriptor set has no message \"{}\"; it has {}{}", name, fmt::join(names, ", "),
      numNames > kMaxNames ? fmt::format(" and {} more", numNames - kMaxNames) : "");
}

}  // namespace penstock::bigquery
