# `make install`: the libraries, the public headers, the command and a CMake package, so that another project says
#   find_package(Penstock REQUIRED)
#   target_link_libraries(program PRIVATE penstock::bigquery)
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Everything that is installed, built by one name.
add_custom_target(install-all)

function(penstock_install_library target export_name)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${export_name})
  install(TARGETS ${target} EXPORT PenstockTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  add_dependencies(install-all ${target})
endfunction()

# The headers named in cmake/public-headers.txt and all they include, and no other: what is not reachable from a
# public header is not a promise.
function(penstock_public_headers result)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/public-headers.txt)
  file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/public-headers.txt pending REGEX "^penstock/")
  set(found "")
  while(pending)
    list(POP_FRONT pending header)
    if(header IN_LIST found)
      continue()
    endif()
    list(APPEND found ${header})
    file(STRINGS ${PROJECT_SOURCE_DIR}/src/${header} includes REGEX "^#include \"penstock/")
    list(TRANSFORM includes REPLACE "^#include \"([^\"]+)\".*" "\\1")
    list(APPEND pending ${includes})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${header})
  endwhile()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

function(penstock_install_package)
  penstock_public_headers(headers)
  foreach(header IN LISTS headers)
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES ${PROJECT_SOURCE_DIR}/src/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
  endforeach()
  if(TARGET penstock)
    add_dependencies(install-all penstock)
  endif()

  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Penstock)
  install(EXPORT PenstockTargets NAMESPACE penstock:: DESTINATION ${package})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/PenstockConfig.cmake.in
    ${PROJECT_BINARY_DIR}/PenstockConfig.cmake INSTALL_DESTINATION ${package})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/PenstockConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/PenstockConfig.cmake ${PROJECT_BINARY_DIR}/PenstockConfigVersion.cmake
    DESTINATION ${package})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
endfunction()
